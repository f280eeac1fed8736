# SPDX-License-Identifier: MIT
# awk -f scripts/targets.awk results.csv...: the targets of docs/performance.md, each met or missed, with the figures that say
# so, by medians of the device's clock. Exit 1 where there is nothing to judge one by.
#     single_pass / cub_scan at most 1.00 at every n of a series (kind, type, operator, launch, cache)
#     at 2^28: single_pass at least 95 % of the copy (the faster of copy and memcpy, of the same type and launch);
#     reduce_then_scan within 10 % of 3n, block_scan within 10 % of 4n, at the speed of that copy
BEGIN { FS = ","; large = large ? large : 2 ^ 28 }
FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; next }
function field(name) { return $column[name] }
field("device_median_s") != "" {
    kind = field("kind")
    way = field("type") " " field("launch") " " field("cache")
    series = kind " " field("type") " " field("op") " " field("launch") " " field("cache")
    n = field("n") + 0
    t = field("device_median_s") + 0
    algorithm = field("algorithm")
    if (kind == "copy") {
        if (n == large && (!(way in copy) || t < copy[way])) copy[way] = t
        next
    }
    if (algorithm !~ /^(single_pass|cub_scan|reduce_then_scan|block_scan)$/) next
    if (!(series in known)) { known[series]; names[++count] = series; ways[series] = way; sizes[series] = "" }
    if (!((series, n) in at)) { at[series, n]; sizes[series] = sizes[series] " " n }
    # Of several block sizes, and several runs, the fastest.
    key = algorithm SUBSEP series SUBSEP n
    if (!(key in time) || t < time[key]) {
        time[key] = t
        low[key] = field("device_ci_lo_s")
        high[key] = field("device_ci_hi_s")
        flags[key] = field("status") == "ok" ? "" : " (" field("status") ")"
    }
}
function size(n, k) { for (k = 0; 2 ^ k < n; k++); return 2 ^ k == n ? "2^" k : n "" }
function us(t) { return sprintf("%.3f us", 1e6 * t) }
function say(met, what, figures) {
    printf "target: %s: %s: %s\n", what, met ? "met" : "missed", figures
    if (met) yes++; else no++
}
function ceiling(algorithm, words, series, key, bound) {
    key = algorithm SUBSEP series SUBSEP large
    if (!(key in time) || !(ways[series] in copy)) { missing[algorithm " and a copy at " size(large)]; return }
    found[algorithm " and a copy at " size(large)]
    bound = copy[ways[series]] * words / 2
    say(time[key] <= 1.1 * bound, algorithm " within 10 % of " words "n at " size(large) ", " series,
        us(time[key]) flags[key] " against " us(bound) sprintf(" (%+.1f %%)", 100 * (time[key] / bound - 1)))
}
END {
    for (s = 1; s <= count; s++) {
        series = names[s]
        many = split(sizes[series], list, " ")
        worst = compared = slower = shown = 0
        for (i = 1; i <= many; i++) {
            mine = "single_pass" SUBSEP series SUBSEP list[i]
            theirs = "cub_scan" SUBSEP series SUBSEP list[i]
            if (!(mine in time) || !(theirs in time)) continue
            compared++
            ratio = time[mine] / time[theirs]
            if (ratio > 1) {
                slower++
                if (low[mine] != "" && high[theirs] != "" && low[mine] + 0 > high[theirs] + 0) shown++
            }
            if (ratio > worst) { worst = ratio; where = list[i]; text = us(time[mine]) flags[mine] " against " us(time[theirs]) flags[theirs] }
        }
        if (!compared) continue
        found["single_pass and cub_scan"]
        say(slower == 0, "single_pass / cub_scan at most 1.00, " series, sprintf("worst %.3f at %s, %s; %d of %d sizes above 1", worst,
            size(where), text, slower, compared) (slower ? sprintf(", %d of them beyond the intervals", shown) : ""))
    }
    for (s = 1; s <= count; s++) {
        series = names[s]
        key = "single_pass" SUBSEP series SUBSEP large
        what = "single_pass and a copy at " size(large)
        if (!(key in time) || !(ways[series] in copy)) missing[what]
        else {
            found[what]
            efficiency = 100 * copy[ways[series]] / time[key]
            say(efficiency >= 95, "single_pass at least 95 % of the copy at " size(large) ", " series,
                sprintf("%.1f %%, ", efficiency) us(time[key]) flags[key] " against " us(copy[ways[series]]))
        }
        ceiling("reduce_then_scan", 3, series)
        ceiling("block_scan", 4, series)
    }
    if (!("single_pass and cub_scan" in found)) missing["single_pass and cub_scan"]
    if (!count) { missing["single_pass and a copy at " size(large)]; missing["reduce_then_scan and a copy at " size(large)]; missing["block_scan and a copy at " size(large)] }
    lacking = 0
    for (what in missing) if (!(what in found)) { lacking++; print "target: not judged: no times of " what }
    printf "targets: %d met, %d missed, %d not judged\n", yes, no, lacking
    exit lacking > 0
}
