# SPDX-License-Identifier: MIT
# awk -f scripts/registers-table.awk [threads=FILE] KERNELS: a table in Markdown of what scripts/registers.awk prints, a row a
# kernel, a column an architecture. FILE has lines `algorithm threads`: the block sizes that are timed. What a row has the
# same on all operators of a type is not told here: choose an operator before.
#
# Occupancy is computed, not measured: the warps of the blocks that fit an SM at once, over the warps that it holds at
# most, by the rules of cuda_occupancy.h in the toolkit: registers go to a warp in units of 256 from a quarter of the SM's
# file, shared memory to a block in units of 128 bytes (256 on sm_75), and from sm_80 on the driver takes 1 KiB a block.
BEGIN {
    FS = "\t"
    #       threads of an SM, blocks, bytes of shared memory, unit, of the driver
    limit("sm_75", "1024 16 65536 256 0")
    limit("sm_80", "2048 32 167936 128 1024")
    limit("sm_86", "1536 16 102400 128 1024")
    limit("sm_89", "1536 24 102400 128 1024")
    limit("sm_90", "2048 32 233472 128 1024")
    limit("sm_100", "2048 32 233472 128 1024")
    limit("sm_120", "1536 24 102400 128 1024")
    if (threads != "") while ((getline line < threads) > 0) { split(line, part, " "); own[part[1]] = part[2] }
}
function limit(sm, text) { limits[sm] = text }

{
    row = $1 FS $2 FS $3 FS $4
    if (!(row in seen)) { seen[row]; rows[++count] = row; algorithm[count] = $1; kernel[count] = $2; type[count] = $3; op[count] = $4 }
    if (!($5 in known)) { known[$5]; architectures[++columns] = $5 }
    block = $1 in own ? own[$1] : $11
    if ($11 != "" && block > $11 + 0) block = $11
    if (block == "") block = "-"
    if (!((row, block) in size)) { size[row, block]; blocks_of[row] = blocks_of[row] (blocks_of[row] == "" ? "" : " or ") block }
    cell[row, $5] = $6 ", " $7 ", " occupancy($5, block, $6, $7)
    if ($8 + $9 + $10 > 0)
        spills[row] = spills[row] (spills[row] == "" ? "" : "; ") $5 ": " $9 " B out, " $10 " B in, stack " $8 " B"
}

function up(x, unit) { return int((x + unit - 1) / unit) * unit }
function least(a, b) { return a < b ? a : b }
function occupancy(sm, block, registers, shared, l, warps, blocks) {
    if (!(sm in limits) || block == "-") return "-"
    split(limits[sm], l, " ")
    warps = int((block + 31) / 32)
    blocks = least(l[2], int(l[1] / 32 / warps))
    blocks = least(blocks, int(int(16384 / up(registers * 32, 256)) * 4 / warps))
    if (shared + l[5] > 0) blocks = least(blocks, int(l[3] / up(shared + l[5], l[4])))
    return int(100 * blocks * warps * 32 / l[1] + 0.5) " %"
}

END {
    for (i = 2; i <= columns; i++) # sm_100 after sm_90
        for (j = i; j > 1 && substr(architectures[j - 1], 4) + 0 > substr(architectures[j], 4) + 0; j--) {
            line = architectures[j]; architectures[j] = architectures[j - 1]; architectures[j - 1] = line
        }
    printf "| algorithm | kernel | type | op | threads |"
    for (j = 1; j <= columns; j++) printf " %s |", architectures[j]
    printf " spills |\n|---|---|---|---|---|"
    for (j = 0; j <= columns; j++) printf "---|"
    printf "\n"
    for (i = 1; i <= count; i++) {
        row = rows[i]
        printf "| %s | `%s` | %s | %s | %s |", algorithm[i], kernel[i], type[i], op[i], blocks_of[row]
        for (j = 1; j <= columns; j++) printf " %s |", (row, architectures[j]) in cell ? cell[row, architectures[j]] : "-"
        printf " %s |\n", row in spills ? spills[row] : "none"
    }
}
