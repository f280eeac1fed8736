# SPDX-License-Identifier: MIT
# awk -f scripts/tune-table.awk results.csv: the table of tile shapes that a run of scripts/tune speaks for. A shape is an
# algorithm single_pass_vV_rR: V vectors a thread, R rounds; single_pass is the table as committed.
#
# A shape will do at a size if, for every type, its interval overlaps that of the fastest there, or if it is the best
# compromise. One entry of the table reaches as far as some shape will do at all of its sizes, so that no entry is there
# for noise; of several that will do, it has the one with the least mean. Sizes are bytes, as in the table: types of one
# size of array are taken together.
BEGIN { FS = "," }
FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
function field(name) { return $column[name] }
field("algorithm") ~ /^(single_pass(_v[0-9]+_r[0-9]+)?|cub_scan)$/ && field("device_median_s") != "" {
    shape = field("algorithm")
    threads = shape == "cub_scan" ? "cub" : field("threads")
    width = field("type") ~ /64$/ ? 8 : 4
    bytes = field("n") * width
    if (!(threads in block) && threads != "cub") { block[threads]; blocks[++block_count] = threads }
    if (!(bytes in at)) { at[bytes]; sizes[++size_count] = bytes }
    if (!((bytes, field("type")) in measured)) { measured[bytes, field("type")]; types[bytes] = types[bytes] " " field("type") }
    if (shape ~ /_v/ && !(shape in shape_of)) { shape_of[shape]; shapes[++shape_count] = shape }
    key = threads SUBSEP shape SUBSEP bytes SUBSEP field("type")
    median[key] = field("device_median_s") + 0
    low[key] = field("device_ci_lo_s") == "" ? field("device_min_s") + 0 : field("device_ci_lo_s") + 0
    high[key] = field("device_ci_hi_s") == "" ? field("device_max_s") + 0 : field("device_ci_hi_s") + 0
    device = field("device")
}

function amount(bytes) {
    if (bytes >= 2 ^ 20 && bytes % 2 ^ 20 == 0) return bytes / 2 ^ 20 " << 20"
    if (bytes >= 2 ^ 10 && bytes % 2 ^ 10 == 0) return bytes / 2 ^ 10 " << 10"
    return bytes ""
}
function vectors(shape) { sub(/.*_v/, "", shape); sub(/_r.*/, "", shape); return shape }
function rounds(shape) { sub(/.*_r/, "", shape); return shape }
function words(shape) { return "vectors " vectors(shape) ", rounds " rounds(shape) }

# Mean over types of log(time / time of the fastest shape) at a size; "" where a time is missing.
function cost(threads, shape, bytes, list, many, i, sum, key) {
    many = split(types[bytes], list, " ")
    for (i = 1; i <= many; i++) {
        key = threads SUBSEP shape SUBSEP bytes SUBSEP list[i]
        if (!(key in median)) return ""
        sum += log(median[key] / best[threads, bytes, list[i]])
    }
    return sum / many
}
function find_best(threads, j, s, list, many, i, key, b) {
    for (j = 1; j <= size_count; j++) {
        many = split(types[sizes[j]], list, " ")
        for (i = 1; i <= many; i++) {
            b = threads SUBSEP sizes[j] SUBSEP list[i]
            for (s = 1; s <= shape_count; s++) {
                key = threads SUBSEP shapes[s] SUBSEP sizes[j] SUBSEP list[i]
                if (key in median && (!(b in best) || median[key] < best[b])) { best[b] = median[key]; best_high[b] = high[key] }
            }
        }
    }
}
# Overlap with the fastest, for every type; or, where no shape has that, the least cost.
function will_do(threads, shape, bytes, s, least, c) {
    if (!((threads, bytes) in judged)) {
        judged[threads, bytes]
        least = 0
        for (s = 1; s <= shape_count; s++) {
            if (overlaps(threads, shapes[s], bytes)) doing[threads, bytes, shapes[s]]
            if ((c = cost(threads, shapes[s], bytes)) != "" && (!least || c < cost(threads, shapes[least], bytes))) least = s
        }
        if (least) doing[threads, bytes, shapes[least]]
    }
    return (threads, bytes, shape) in doing
}
function overlaps(threads, shape, bytes, list, many, i, key) {
    many = split(types[bytes], list, " ")
    for (i = 1; i <= many; i++) {
        key = threads SUBSEP shape SUBSEP bytes SUBSEP list[i]
        if (!(key in median) || low[key] > best_high[threads, bytes, list[i]]) return 0
    }
    return 1
}
# Mean cost of a shape over sizes from..to; "" where one is missing.
function mean(threads, shape, from, to, j, c, sum) {
    for (j = from; j <= to; j++) {
        c = cost(threads, shape, sizes[j])
        if (c == "") return ""
        sum += c
    }
    return sum / (to - from + 1)
}
# Of the shapes that will do, or of all, the one with the least mean over sizes from..to; "" if there is none.
function choose(threads, from, to, only, but, s, j, m, least, chosen, good) {
    chosen = ""
    for (s = 1; s <= shape_count; s++) {
        if (shapes[s] == but) continue
        good = 1
        if (only) for (j = from; j <= to && good; j++) good = will_do(threads, shapes[s], sizes[j])
        if (!good || (m = mean(threads, shapes[s], from, to)) == "") continue
        if (chosen == "" || m < least) { least = m; chosen = shapes[s] }
    }
    return chosen
}
function percent(difference) { return sprintf("%+.1f %%", 100 * (exp(difference) - 1)) }

# The entries for a block size.
function entries(threads, from, to, chosen, next_chosen) {
    count[threads] = 0
    for (from = 1; from <= size_count; from = to + 1) {
        chosen = choose(threads, from, from, 1)
        if (chosen == "") return 0
        for (to = from; to < size_count; to++) {
            if ((next_chosen = choose(threads, from, to + 1, 1)) == "") break
            chosen = next_chosen
        }
        entry_shape[threads, ++count[threads]] = chosen
        entry_from[threads, count[threads]] = from
        entry_to[threads, count[threads]] = to
    }
    return 1
}
# Mean over all sizes and types of log(time / time of another), where both are known.
function against(threads, other_threads, other, e, j, list, many, i, mine, theirs, sum, pairs) {
    for (e = 1; e <= count[threads]; e++)
        for (j = entry_from[threads, e]; j <= entry_to[threads, e]; j++) {
            many = split(types[sizes[j]], list, " ")
            for (i = 1; i <= many; i++) {
                mine = threads SUBSEP entry_shape[threads, e] SUBSEP sizes[j] SUBSEP list[i]
                theirs = other_threads SUBSEP (other == "" ? entry_at[other_threads, j] : other) SUBSEP sizes[j] SUBSEP list[i]
                if (!(mine in median) || !(theirs in median)) continue
                sum += log(median[theirs] / median[mine])
                pairs++
            }
        }
    return pairs ? percent(sum / pairs) : ""
}

END {
    for (i = 2; i <= size_count; i++)
        for (j = i; j > 1 && sizes[j - 1] > sizes[j]; j--) { bytes = sizes[j]; sizes[j] = sizes[j - 1]; sizes[j - 1] = bytes }
    winner = ""
    for (b = 1; b <= block_count; b++) {
        threads = blocks[b]
        find_best(threads)
        if (!entries(threads)) { left_out = left_out " " threads; continue }
        for (e = 1; e <= count[threads]; e++)
            for (j = entry_from[threads, e]; j <= entry_to[threads, e]; j++) entry_at[threads, j] = entry_shape[threads, e]
        if (winner == "" || absolute(threads) < absolute(winner)) winner = threads
    }
    if (winner == "") { print "tune: no block size has times of a shape at every size: nothing to choose from"; exit 1 }

    one = choose(winner, 1, size_count, 0)
    printf "/* shapes: begin */\nstatic constexpr struct shape shapes[] = {\n"
    for (e = 1; e <= count[winner]; e++) {
        shape = entry_shape[winner, e]
        printf "    {.most_bytes = %s, .vectors = %s, .rounds = %s},\n", e == count[winner] ? "UINT64_MAX" : amount(sizes[entry_to[winner, e]]),
            vectors(shape), rounds(shape)
    }
    printf "};\n/* shapes: end */\n\n"
    for (e = 1; e <= count[winner]; e++) {
        shape = entry_shape[winner, e]
        from = entry_from[winner, e]
        to = entry_to[winner, e]
        printf "tune: %s to %s bytes: %s", amount(sizes[from]), amount(sizes[to]), words(shape)
        other = choose(winner, from, to, 0, shape)
        if (other != "") printf "; the next best (%s) takes %s", words(other), percent(mean(winner, other, from, to) - mean(winner, shape, from, to))
        if (one != "" && one != shape) printf "; one shape for all (%s) %s", words(one), percent(mean(winner, one, from, to) - mean(winner, shape, from, to))
        same = ""
        for (s = 1; s <= shape_count; s++) {
            good = shapes[s] != shape
            for (j = from; j <= to && good; j++) good = will_do(winner, shapes[s], sizes[j])
            if (good) same = same (same == "" ? "" : ", ") words(shapes[s])
        }
        printf "%s\n", same == "" ? "; told from all others" : "; not to be told from it: " same
    }
    if (one != "") printf "tune: one shape for all (%s) takes %s, in the mean over all sizes\n", words(one), against(winner, winner, one)
    for (b = 1; b <= block_count; b++)
        if (blocks[b] != winner && (text = against(winner, blocks[b], "")) != "")
            printf "tune: blocks of %s threads with a table of their own: %s\n", blocks[b], text
    printf "tune: the table above is for blocks of %s threads: .threads begins with it\n", winner
    if (left_out != "") print "tune: without times of a shape at every size, and left out: blocks of" left_out " threads"
    for (b = 1; b <= block_count; b++)
        if ((text = against(winner, blocks[b], "single_pass")) != "") printf "tune: the table as committed, with blocks of %s threads: %s\n", blocks[b], text
    if ((text = against(winner, "cub", "cub_scan")) != "") printf "tune: cub_scan: %s\n", text
    if (device != "cuda") print "tune: THESE ARE TIMES OF THE CPU DEVICE: they say nothing about a GPU, and this table is not to be committed"
}
# Mean over sizes and types of the log of the table's times: to compare block sizes.
function absolute(threads, j, list, many, i, sum, key) {
    for (j = 1; j <= size_count; j++) {
        many = split(types[sizes[j]], list, " ")
        for (i = 1; i <= many; i++) sum += log(median[threads, entry_at[threads, j], sizes[j], list[i]])
    }
    return sum
}
