# SPDX-License-Identifier: MIT
# awk -f scripts/graph-launches.awk results.csv: of each row that was replayed from a graph, are its launches those of the
# row that was launched on the stream? Exit 1 where one differs, or there is none.
BEGIN { FS = "," }
FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
function field(name) { return $column[name] }
field("launches") != "" && field("status") ~ /^(ok|unstable|throttled)$/ {
    key = field("algorithm") " " field("kind") " " field("type") " " field("op") " " field("n") " " field("threads") " " field("cache")
    launches[key, field("launch")] = field("launches")
    if (field("launch") == "graph") graphs[++count] = key
}
END {
    for (i = 1; i <= count; i++) {
        if (!((graphs[i], "stream") in launches)) { alone++; continue }
        if (launches[graphs[i], "graph"] == launches[graphs[i], "stream"]) { same++; continue }
        differ++
        printf "graph: %s: %d launches in the graph, %d on the stream\n", graphs[i], launches[graphs[i], "graph"], launches[graphs[i], "stream"]
    }
    printf "graph: launches of %d rows are those of the stream, of %d they differ", same, differ
    printf alone ? ", of %d there is no row on the stream\n" : "\n", alone
    exit differ > 0 || same == 0
}
