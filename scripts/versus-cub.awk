# SPDX-License-Identifier: MIT
# awk -f scripts/versus-cub.awk [ours=single_pass] results.csv...: the time of one scan over that of CUB, the faster of
# cub_scan and cub_scan_64 as in the chart versus_cub, by the device's clock, at every n of every series (kind, type,
# operator, launch, cache) that both have, and the worst of each.
# `~`: the confidence intervals overlap, so that neither is shown to be faster.
BEGIN { FS = ","; OFS = "" }
FNR == 1 {
    if (ours == "") ours = "single_pass"
    split("", column)
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function field(name) { return $column[name] }
field("algorithm") ~ "^(" ours "|cub_scan|cub_scan_64)$" && field("device_median_s") != "" {
    series = field("kind") " " field("type") " " field("op") " " field("launch") " " field("cache")
    n = field("n")
    if (!(series in known)) { known[series]; names[++count] = series }
    if (!((series, n) in at)) { at[series, n]; sizes[series] = sizes[series] " " n }
    key = (field("algorithm") == ours ? ours : "CUB") SUBSEP series SUBSEP n
    # Of several block sizes, and of CUB's two, the fastest.
    if (key in median && median[key] <= field("device_median_s") + 0) next
    median[key] = field("device_median_s") + 0
    low[key] = field("device_ci_lo_s")
    high[key] = field("device_ci_hi_s")
}
function size(n, k) { for (k = 0; 2 ^ k < n; k++); return 2 ^ k == n ? "2^" k : n "" }
function less(list, count, i, j, x) { # by size
    for (i = 2; i <= count; i++) {
        x = list[i]
        for (j = i - 1; j >= 1 && list[j] + 0 > x + 0; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
}
END {
    for (s = 1; s <= count; s++) {
        series = names[s]
        worst = 0
        line = ""
        many = split(sizes[series], list, " ")
        less(list, many)
        for (i = 1; i <= many; i++) {
            mine = ours SUBSEP series SUBSEP list[i]
            theirs = "CUB" SUBSEP series SUBSEP list[i]
            if (!(mine in median) || !(theirs in median)) continue
            ratio = median[mine] / median[theirs]
            apart = low[mine] != "" && low[theirs] != "" && (high[mine] + 0 < low[theirs] + 0 || low[mine] + 0 > high[theirs] + 0)
            line = line " " size(list[i]) sprintf(" %.2f%s", ratio, apart ? "" : "~")
            if (ratio > worst) { worst = ratio; where = list[i] }
        }
        if (line == "") continue
        any = 1
        printf "versus_cub: %s:%s; worst %.2f at %s\n", series, line, worst, size(where)
    }
    if (!any) print "versus_cub: no size has times of both " ours " and CUB"
}
