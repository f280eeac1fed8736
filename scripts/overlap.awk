# SPDX-License-Identifier: MIT
# awk -f scripts/overlap.awk A/results.csv B/results.csv: two runs of the same plan on the same machine. How many rows have
# confidence intervals of the median that overlap, for each clock of each device, how far apart the medians are, and the
# rows that are farthest apart. Rows without an interval are left out and counted. Exit 1 where there is nothing to compare.
BEGIN { FS = "," }
FNR == 1 {
    file++
    split("", column)
    for (i = 1; i <= NF; i++) column[$i] = i
    if (!("device_ci_lo_s" in column) || !("host_ci_lo_s" in column)) {
        print "overlap: " FILENAME ": no columns device_ci_lo_s and host_ci_lo_s" > "/dev/stderr"
        failed = 1
        exit
    }
    next
}
function field(name) { return $column[name] }
{
    key = field("algorithm") " " field("kind") " " field("type") " " field("op") " " field("n") " " field("threads") " " \
        field("launch") " " field("cache")
    if (file == 1) first[key] = 1
    else if (!(key in first)) { alone++; next }
    else delete first[key]
    clock("device", field("device") == "host" ? "host algorithm" : "device", field("device_ci_lo_s"),
        field("device_median_s"), field("device_ci_hi_s"))
    if (field("device") != "host")
        clock("host", "call to sync", field("host_ci_lo_s"), field("host_median_s"), field("host_ci_hi_s"))
}
function clock(name, group, low, median, high) {
    if (file == 1) { lows[key, name] = low; medians[key, name] = median; highs[key, name] = high; return }
    if (low == "" || lows[key, name] == "") { without++; return }
    compared[group]++
    apart = median / medians[key, name] - 1
    size = apart < 0 ? -apart : apart
    list[group] = list[group] " " size
    if (low <= highs[key, name] + 0 && high >= lows[key, name] + 0) overlapping[group]++
    else {
        distances[++far] = size
        texts[far] = sprintf("  %s, %s: %.6g s, then %.6g s (%+.1f %%)", key, group, medians[key, name], median, 100 * apart)
    }
}
# The median of a list of numbers in one text.
function median_of(text, numbers, n, i, j, x) {
    n = split(text, numbers, " ")
    for (i = 2; i <= n; i++) {
        x = numbers[i] + 0
        for (j = i - 1; j >= 1 && numbers[j] + 0 > x; j--) numbers[j + 1] = numbers[j]
        numbers[j + 1] = x
    }
    return n % 2 ? numbers[(n + 1) / 2] : (numbers[n / 2] + numbers[n / 2 + 1]) / 2
}
END {
    if (failed) exit 1
    for (key in first) alone++
    split("device,call to sync,host algorithm", groups, ",")
    for (g = 1; g <= 3; g++) {
        group = groups[g]
        if (!compared[group]) continue
        any = 1
        printf "overlap: %s: intervals of %d of %d rows overlap (%.1f %%); medians differ by %.2f %% in the median row\n", group,
            overlapping[group], compared[group], 100 * overlapping[group] / compared[group], 100 * median_of(list[group])
    }
    if (without) printf "overlap: %d intervals are missing in one of the runs\n", without
    if (alone) printf "overlap: %d rows are in one of the runs alone\n", alone
    for (shown = 0; shown < 10 && shown < far; shown++) {
        most = 0
        for (i = 1; i <= far; i++) if (distances[i] >= 0 && (!most || distances[i] > distances[most])) most = i
        print texts[most]
        distances[most] = -1
    }
    if (!any) { print "overlap: nothing to compare"; exit 1 }
}
