# SPDX-License-Identifier: MIT
# awk -f scripts/isolated.awk isolated.csv results.csv: our medians of CUB's scans against those of build/cuda/cub-isolated,
# in percent. More than 3 % is a failure, unless it is less than the finest step of the event clock, 0.5 us.
BEGIN { FS = "," }
FNR == 1 { file++; split("", column); for (i = 1; i <= NF; i++) column[$i] = i; next }
function field(name) { return $column[name] }
file == 1 { theirs[field("algorithm"), field("n"), field("cache")] = field("median_s"); next }
field("launch") == "stream" && field("device_median_s") != "" {
    key = field("algorithm") SUBSEP field("n") SUBSEP field("cache")
    if (!(key in theirs)) next
    ours = field("device_median_s")
    apart = ours / theirs[key] - 1
    size = apart < 0 ? -apart : apart
    seconds = ours - theirs[key]
    if (seconds < 0) seconds = -seconds
    verdict = size <= 0.03 ? "agrees" : seconds < 0.5e-6 ? "agrees within a step of the event clock" : "DIFFERS"
    if (verdict == "DIFFERS") differ++
    compared++
    printf "isolated: %s %s %s: %.3f us here, %.3f us alone (%+.1f %%), %s", field("algorithm"), field("n"), field("cache"),
        1e6 * ours, 1e6 * theirs[key], 100 * apart, field("status") " " verdict
    dirty = field("algorithm") SUBSEP field("n") SUBSEP "dirty"
    if (field("cache") == "cold" && dirty in theirs) printf "; with dirty lines %.3f us", 1e6 * theirs[dirty]
    printf "\n"
}
END {
    printf "isolated: %d of %d medians agree within 3 %%\n", compared - differ, compared
    exit differ > 0 || !compared
}
