# SPDX-License-Identifier: MIT
# From a run's files to what its charts draw:
#
#   awk -v out=FOLDER -v mark="serial blelloch" [-v partial=.part] -f chart-files.awk -f chart-data.awk \
#       is=titles TITLES is=machine machine.csv is=crossovers crossovers.csv is=results results.csv
#
# For every device, kind, type, op, launch and cache of the run and every chart, FOLDER gets NAME.dat (a block an algorithm:
# its title, then rows of n, value, low, high), NAME.unstable (n, value, style), NAME.gp (texts, ranges, line styles),
# NAME.flags and NAME.marks; the file `charts` lists "CHART NAME". Rows without a time are left out. Of several block
# sizes the fastest at each n stands. Host algorithms stand beside those of the device, in each of its launch and cache
# modes. Crossings are marked between the algorithms named by `mark`.

BEGIN {
    FS = ","
    MOST_ROWS = 4 # of flags
    split(mark, words, " ")
    for (i in words)
        marked[words[i]] = 1
}

# ------------------------------------------------------------------------------------------------ reading

is == "crossovers" && field("clock") == "device" && field("verdict") == "crosses" {
    c = ++crossings
    crossing_mode[c] = mode_of(field("device"))
    below[c] = field("faster_below")
    above[c] = field("faster_above")
    last_below[c] = field("last_n_below")
    first_above[c] = field("first_n_above")
    estimate[c] = field("n_estimate")
}
is == "results" && field("status") ~ /^(ok|unstable|throttled)$/ {
    r = ++rows
    run = field("run")
    machine = field("machine")
    name[r] = field("algorithm")
    add_algorithm(name[r], name[r])
    n[r] = field("n")
    mode[r] = mode_of(field("device"))
    state[r] = field("status") != "ok"
    time[r] = field("device_median_s")
    low[r] = field("device_ci_lo_s")
    high[r] = field("device_ci_hi_s")
    if (low[r] == "" || high[r] == "") {
        low[r] = field("device_min_s")
        high[r] = field("device_max_s")
    }
    rate[r] = field("elements_per_s")
    additions[r] = field("additions")
    launches[r] = field("launches")
    if (field("kind") == "copy")
        is_copy[name[r]] = 1
    else if (!(mode[r] in seen)) {
        seen[mode[r]] = 1
        modes[++mode_count] = mode[r]
        devices += field("device") != "host"
    }
}

function mode_of(device) {
    return device "," field("kind") "," field("type") "," field("op") "," field("launch") "," field("cache")
}

# ------------------------------------------------------------------------------------------------ charts

END {
    for (i = 1; i <= listed; i++)
        if (!(list[i] in is_copy))
            style[list[i]] = ++styles
    title["copy ceiling"] = "Copy ceiling"
    style["copy ceiling"] = 100
    list[++listed] = "copy ceiling"
    for (m = 1; m <= mode_count; m++)
        if (!devices || modes[m] !~ /^host,/) # host algorithms have charts of their own only where there is no device
            draw_mode(modes[m])
}

function draw_mode(this,    part, suffix, scan, where, whose, timed, hosts) {
    split(this, part, ",") # device, kind, type, op, launch, cache
    hosts = choose_rows(this, part)
    suffix = part[2] "-" part[3] "-" part[4]
    if (part[5] != "stream" && part[5] != "")
        suffix = suffix "-" part[5]
    if (part[6] != "warm" && part[6] != "")
        suffix = suffix "-" part[6]

    scan = an(part[2]) " scan"
    where = part[1] == "cuda" ? gpu : host_cpu
    whose = "Machine " machine (where != "" ? " (" where ")" : "") ", device " part[1] ", run " run (partial != "" ? ", incomplete" : "")
    problem = "Kind " part[2] ", type " part[3] ", operator " part[4] (part[5] != "" ? "; " part[5] " launch" : "") \
        (part[6] != "" ? ", " part[6] " cache" : "")
    timed = "Timed: " (part[1] == "host" ? "on the host's clock" : "between two events on the device") \
        (hosts && part[1] != "host" ? " (host algorithms: on the host's clock)" : "") \
        "; median and interval; without checking, set-up and transfers"

    if (part[1] == "cpu")
        where = "on the CPU device (times are those of the CPU device, not of a GPU)"
    else
        where = "on " (part[1] == "host" ? "the host" : gpu != "" ? gpu : machine)
    if (draw("crossover", suffix, "Time of " scan " " where, whose, timed))
        draw_crossings(this, part, "crossover-" suffix)
    draw("throughput", suffix, "Throughput of " scan " " where, whose, timed)
    draw("additions", suffix, "Additions of " scan, whose, "Applications of the operator in one run, padding included, copies and swaps excluded")
    draw("launches", suffix, "Launches of " scan, whose, "Kernels, memsets and copies launched in one run")
}

# best[algorithm, n]: the row that stands for it; by_size[1..sizes]: every n. Returns how many host rows there are.
function choose_rows(this, part,    r, p, key, i, j, size, hosts) {
    split("", best)
    split("", known)
    sizes = hosts = 0
    for (r = 1; r <= rows; r++) {
        split(mode[r], p, ",")
        if (name[r] in is_copy) {
            if (p[1] != part[1] || p[3] != part[3] || p[5] != part[5] || p[6] != part[6])
                continue
            key = "copy ceiling" SUBSEP n[r]
        } else {
            if (p[2] != part[2] || p[3] != part[3] || p[4] != part[4] || (p[1] != "host" && mode[r] != this))
                continue
            key = name[r] SUBSEP n[r]
            hosts += p[1] == "host"
        }
        if (!(key in best) || faster(r, best[key]))
            best[key] = r
        if (!(n[r] in known)) {
            known[n[r]] = 1
            for (i = ++sizes; i > 1 && by_size[i - 1] + 0 > n[r] + 0; i--)
                by_size[i] = by_size[i - 1]
            by_size[i] = n[r]
        }
    }
    return hosts
}

function faster(r, than) { return time[r] != "" && (time[than] == "" || time[r] + 0 < time[than] + 0) }

# Writes NAME.dat and NAME.gp, the algorithm that ends highest first, so that the key runs as the lines end.
# Returns the number of lines drawn; with none there is no chart.
function draw(chart, suffix, heading, whose, what,    i, j, a, r, key, v, lo, hi, lines, text, last, rank, count, file,
              numbers, least, most, lowest, highest, uncertain) {
    for (i = 1; i <= listed; i++) {
        a = list[i]
        lines = ""
        if (a == "copy ceiling" && chart != "throughput")
            continue
        for (j = 1; j <= sizes; j++) {
            key = a SUBSEP by_size[j]
            if (!(key in best))
                continue
            r = best[key]
            v = chart == "crossover" ? time[r] : chart == "throughput" ? rate[r] : \
                chart == "additions" ? additions[r] : launches[r]
            if (v == "" || (v + 0 <= 0 && chart != "launches")) # no zero on a log axis
                continue
            lo = hi = v
            if (low[r] != "" && high[r] != "" && chart == "crossover") {
                lo = low[r]
                hi = high[r]
            }
            lines = lines n[r] " " v " " lo " " hi "\n"
            if (state[r] && chart ~ /^(crossover|throughput)$/) {
                uncertain++
                print n[r], v, style[a] >(out "/" chart "-" suffix ".unstable")
            }
            if (least == "" || n[r] + 0 < least)
                least = n[r] + 0
            if (n[r] + 0 > most + 0)
                most = n[r] + 0
            if (lowest == "" || v + 0 < lowest)
                lowest = v + 0
            if (v + 0 > highest + 0)
                highest = v + 0
            last[a] = chart ~ /^(crossover|additions)$/ ? v / n[r] : v + 0
        }
        if (lines == "")
            continue
        text[a] = lines
        if (a == "copy ceiling")
            last[a] = 1e300 # drawn first, beneath the others
        for (j = ++count; j > 1 && last[rank[j - 1]] < last[a]; j--)
            rank[j] = rank[j - 1]
        rank[j] = a
    }
    if (!count)
        return 0
    file = out "/" chart "-" suffix
    for (i = 1; i <= count; i++) {
        printf "%s\"%s\"\n%s", (i > 1 ? "\n\n" : ""), plain(title[rank[i]]), text[rank[i]] >(file ".dat")
        numbers = numbers " " style[rank[i]]
    }
    close(file ".dat")
    close(file ".unstable")
    printf "heading = %s\nwhose = %s\nproblem = %s\nwhat = %s\n", quoted(heading), quoted(whose), quoted(problem), \
        quoted(what) >(file ".gp")
    printf "styles = '%s'\nleast = %.0f\nmost = %.0f\nlowest = %.9g\nhighest = %.9g\nuncertain = %d\nflags = 0\n", \
        numbers, least, most, lowest, highest, uncertain >(file ".gp")
    close(file ".gp")
    print chart, chart "-" suffix >(out "/charts")
    return count
}

# ------------------------------------------------------------------------------------------------ crossings

# A flag a crossing: a pole from it up to its text above the frame. A text stands to the right of its pole; of two that
# would touch, the left one stands higher, so that no pole runs through a text.
function draw_crossings(this, part, chart,    c, p, i, j, flags, order, y, row, top, width, span, names, where) {
    for (c = 1; c <= crossings; c++) {
        split(crossing_mode[c], p, ",")
        if (p[2] != part[2] || p[3] != part[3] || p[4] != part[4] || (p[1] != "host" && crossing_mode[c] != this))
            continue
        if (!(below[c] in marked && above[c] in marked) || (y[c] = time_at(below[c], estimate[c])) == "")
            continue
        for (i = ++flags; i > 1 && estimate[order[i - 1]] + 0 > estimate[c] + 0; i--)
            order[i] = order[i - 1]
        order[i] = c
    }
    span = log(by_size[sizes] / by_size[1]) + log(1.5)
    for (i = flags; i > 0; i--) {
        width = 0.02 + 0.0098 * length(pair(order[i]))
        row[i] = 1
        for (j = i + 1; j <= flags; j++)
            if (log(estimate[order[j]] / estimate[order[i]]) < width * span && row[j] >= row[i])
                row[i] = row[j] + 1
        if (row[i] > top && row[i] <= MOST_ROWS)
            top = row[i]
    }
    for (i = 1; i <= listed; i++)
        if (list[i] in marked)
            names = names (names == "" ? "" : ", ") title[list[i]]
    if (length(names) > 70)
        names = "the algorithms asked for"
    chart = out "/" chart
    printf "flags = %d\nmarked = %s\n", top, quoted(names) >>(chart ".gp")
    for (i = 1; i <= flags; i++) {
        c = order[i]
        print estimate[c], y[c], last_below[c], first_above[c] >(chart ".marks")
        if (row[i] > MOST_ROWS)
            continue # a ring without a flag
        where = "first " estimate[c] ", screen flag(" row[i] ")"
        printf "set arrow from first %s, first %s to %s nohead ls 201\n", estimate[c], y[c], where >(chart ".flags")
        printf "set label \"%s\\n%s\" at %s left offset 0.5,-0.4 font small noenhanced\n", \
            "n = 2^" sprintf("%.1f", log(estimate[c]) / log(2)) ", about " rounded(estimate[c]), pair(c), where >(chart ".flags")
    }
    close(chart ".flags")
    close(chart ".marks")
    close(chart ".gp")
}

function pair(c) { return plain(title[below[c]]) " \342\206\222 " plain(title[above[c]]) } # the arrow, in UTF-8

# An algorithm's time at x, on the line drawn between its neighbouring sizes; empty outside of them.
function time_at(algorithm, x,    j, r, left, right, share) {
    for (j = 1; j <= sizes && right == ""; j++) {
        if (!((algorithm, by_size[j]) in best) || time[best[algorithm, by_size[j]]] == "")
            continue
        r = best[algorithm, by_size[j]]
        if (by_size[j] + 0 <= x + 0)
            left = r
        else
            right = r
    }
    if (left == "" || (right == "" && n[left] + 0 != x + 0))
        return ""
    if (right == "")
        return time[left]
    share = log(x / n[left]) / log(n[right] / n[left])
    return sprintf("%.9g", exp((1 - share) * log(time[left]) + share * log(time[right])))
}

# Two digits are what an estimate is worth: 178432.7 -> "180 000".
function rounded(x,    unit, digits, text) {
    for (unit = 1; x / unit >= 100; unit *= 10)
        ;
    digits = sprintf("%.0f", int(x / unit + 0.5) * unit)
    while (length(digits) > 3) {
        text = " " substr(digits, length(digits) - 2) text
        digits = substr(digits, 1, length(digits) - 3)
    }
    return digits text
}
