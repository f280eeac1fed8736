# SPDX-License-Identifier: MIT
# From the files of a run, or of two, to what charts draw:
#
#   awk -v out=FOLDER -v mark="serial blelloch" [-v only="serial"] [-v partial=.part] \
#       -f chart-files.awk -f chart-data.awk -f chart-ratios.awk is=families FAMILIES is=titles TITLES \
#       is=machine machine.csv is=crossovers crossovers.csv is=results results.csv \
#       [of=2 partial= is=machine machine.csv is=crossovers crossovers.csv is=results results.csv]
#
# For every device, kind, type, op, launch and cache of a run and every chart, FOLDER gets NAME.dat (a block a line: its
# title, then rows of n, value, low, high), NAME.unstable (n, value, style), NAME.gp (texts, ranges, line styles),
# NAME.flags and NAME.marks; the file `charts` lists "CHART NAME", CHART.gp being what draws it. Rows without a time are
# left out. Of several block sizes the fastest at each n stands. Host algorithms stand beside those of the device, in
# each of its launch modes; their caches are always warm, so that no chart of a cold mode has them. Of more than MANY
# algorithms those of the families' charts over n are shown, and `families` shows the others. Crossings are marked
# between the algorithms named by `mark`. The order of the rows does not matter. chart-ratios.awk has what is drawn of
# a GPU alone.
#
# Charts of two variants show one in solid lines and the other in dashed ones: `replay` stream and graph launch on the
# device's clock, `replay-host` the same on the host's, which sees what launches cost the host, `cold` warm and cold
# caches, all of the algorithms in `mark`, where a run has both; and of two runs `compared` charts, of the algorithms that
# both have. What two runs differ in goes to the file `differ`; why charts are missing, to `left_out`.

BEGIN {
    FS = ","
    of = 1
    MOST_ROWS = 4 # of flags; a chart of two variants is higher, and has room for half as many more
    HIGHER = 700  # style.gp: its height; 540 otherwise
    MOST_NOTE = 160 # characters that fit on a line of small ones
    SOLID = 210   # style.gp: what is added to a style
    DASHED = 420
    clock = "device"
    words_into(marked, mark)
}

# ------------------------------------------------------------------------------------------------ reading

is == "machine" {
    for (c in at)
        said[of, c] = field(c)
}
is == "crossovers" && field("verdict") == "crosses" {
    c = ++crossings
    crossing_clock[c] = field("clock")
    crossing_of[c] = of
    crossing_mode[c] = mode_of(field("device"))
    below[c] = field("faster_below")
    above[c] = field("faster_above")
    last_below[c] = field("last_n_below")
    first_above[c] = field("first_n_above")
    estimate[c] = field("n_estimate")
}
is == "results" {
    if (field("run") != "") {
        run[of] = field("run")
        machine[of] = field("machine")
    }
    if (partial != "")
        incomplete[of] = ", incomplete"
    if (field("flags") ~ /(^|[+])simulated([+]|$)/)
        simulated[of] = 1
    if (field("device") !~ /^(cpu|host)$/)
        has_gpu[of] = 1
    outcome[of, mode_of(field("device")), field("algorithm"), field("n")] = \
        field("detail") != "" ? field("detail") : field("status")
    tried[of, mode_of(field("device")), field("algorithm")] = 1
    if (field("kind") != "copy")
        add_algorithm(field("algorithm"), field("algorithm"))
}
is == "results" && field("status") ~ /^(ok|unstable|throttled)$/ {
    r = ++rows
    row_of[r] = of
    name[r] = field("algorithm")
    add_algorithm(name[r], name[r])
    n[r] = field("n")
    mode[r] = mode_of(field("device"))
    state[r] = field("status") == "ok" ? "" : field("status")
    take_time("device", r, "device")
    take_time("host", r, field("host_median_s") == "" && field("device") == "host" ? "device" : "host")
    rate[r] = field("elements_per_s")
    additions[r] = field("additions")
    launches[r] = field("launches")
    if (field("device") == "host")
        on_host[name[r]] = 1
    if (field("kind") == "copy") {
        is_copy[name[r]] = 1
        next
    }
    has[of, mode[r]] = has[of, mode[r], name[r]] = 1
    if (!(mode[r] in seen)) {
        seen[mode[r]] = 1
        modes[++mode_count] = mode[r]
        devices += field("device") != "host"
    }
}

# Median and interval on a clock, from the columns of it, or of the only one that a host algorithm has.
function take_time(clock, r, column) {
    time[clock, r] = field(column "_median_s")
    low[clock, r] = field(column "_ci_lo_s")
    high[clock, r] = field(column "_ci_hi_s")
    if (low[clock, r] == "" || high[clock, r] == "") {
        low[clock, r] = field(column "_min_s")
        high[clock, r] = field(column "_max_s")
    }
}

function mode_of(device) {
    return device "," field("kind") "," field("type") "," field("op") "," field("launch") "," field("cache")
}

# ------------------------------------------------------------------------------------------------ charts

END {
    sort_algorithms()
    sort_modes()
    give_styles()
    title["copy ceiling"] = "Copy ceiling"
    style["copy ceiling"] = 100
    list[++listed] = "copy ceiling"
    if (of == 2)
        tell_differences()
    else
        choose_copies()
    for (m = 1; m <= mode_count; m++) {
        if (devices && modes[m] ~ /^host,/) # host algorithms have charts of their own only where there is no device
            continue
        if (of == 2) {
            if (((1, modes[m]) in has) && ((2, modes[m]) in has))
                draw_compared(modes[m])
            continue
        }
        draw_mode(modes[m])
        draw_pair("replay", modes[m], 5, "stream", "graph")
        clock = "host"
        draw_pair("replay-host", modes[m], 5, "stream", "graph")
        clock = "device"
        draw_pair("cold", modes[m], 6, "warm", "cold")
    }
    if (of == 1 && mode_count)
        tell_left_out()
}

# Those that the list does not know stand behind the others, by name.
function sort_algorithms(    i, j, a) {
    for (i = 2; i <= listed; i++) {
        a = list[i]
        for (j = i; j > 1 && !(a in own_threads) && !(list[j - 1] in own_threads) && list[j - 1] > a; j--)
            list[j] = list[j - 1]
        list[j] = a
    }
}

# The usual ones first: i32, stream, warm.
function sort_modes(    i, j, m) {
    for (i = 2; i <= mode_count; i++) {
        m = modes[i]
        for (j = i; j > 1 && sort_key(modes[j - 1]) > sort_key(m); j--)
            modes[j] = modes[j - 1]
        modes[j] = m
    }
}
function sort_key(mode,    p) {
    split(mode, p, ",")
    return place(p[2], "exclusive inclusive") place(p[3], "i32 i64 f32 f64") place(p[4], "sum max affine") \
        place(p[5], "stream graph") place(p[6], "warm cold") mode
}
function place(word, words) { return sprintf("%03d", (index(" " words " ", " " word " ") + 999) % 1000) }

# All charts of one mode.
function draw_mode(this,    part, suffix, timed, scan, choice) {
    split(this, part, ",") # device, kind, type, op, launch, cache
    variants = 1
    choice = show_some(this)
    choose(1, 1, this, "")
    suffix = part[2] "-" part[3] "-" part[4] other_than("stream", part[5]) other_than("warm", part[6])
    whose = "Machine " whose_machine(1) ", device " part[1] ", run " run[1] incomplete[1]
    problem = problem_of(part) modes_of(part) choice
    timed = timed_how(part)
    if (draw("crossover", "crossover", suffix, title_of("Time", part, ""), timed))
        draw_crossings("crossover-" suffix)
    draw("throughput", "throughput", suffix, title_of("Throughput", part, ""), timed)
    draw_ratios(this, part, suffix, timed)
    split("", hidden)
    if (choice != "" && only == "") {
        problem = problem_of(part) modes_of(part)
        draw("families", "families", suffix, title_of("Throughput, by family,", part, ""), timed)
    }
    scan = part[1] "," part[2] "," part[3] "," part[4]
    if (scan in counted) # counts are the same in each mode
        return
    counted[scan] = 1
    choice = show_some(this)
    choose(1, 1, this, "", 1)
    problem = problem_of(part) modes_of(part) choice
    draw("additions", "additions", suffix, count_of("Additions", part), \
        "Applications of the operator in one run, padding included, copies and swaps excluded, over n")
    draw("launches", "launches", suffix, count_of("Launches", part), "Kernels, memsets and copies launched in one run")
    split("", hidden)
}

# Hides what a chart over n has no room for; a sentence that says so.
function show_some(this,    i, a, count, shown, other) {
    for (i = 1; i <= listed; i++)
        count += has_line(1, this, list[i])
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (shown_of(count, a))
            shown += has_line(1, this, a)
        else
            hidden[a] = 1
    }
    return choice_of(shown + 0, count + 0)
}

# The marked algorithms of this mode and of the same one with the word `dashed` in place of `solid` at place `at` of the
# mode.
function draw_pair(chart, this, at, solid, dashed,    part, other, i, a, both, suffix, shown) {
    split(this, part, ",")
    if (part[at] != solid)
        return
    for (i = 1; i <= 6; i++)
        other = other (i > 1 ? "," : "") (i == at ? dashed : part[i])
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (!(a in marked) || (a in on_host && at == 6)) {
            hidden[a] = 1
            continue
        }
        both += ((1, this, a) in has) && ((1, other, a) in has)
    }
    if (both) {
        variants = 2
        choose(1, 1, this, "")
        choose(2, 1, other, dashed)
        suffix = part[2] "-" part[3] "-" part[4] (at == 5 ? other_than("warm", part[6]) : other_than("stream", part[5]))
        whose = "Machine " whose_machine(1) ", device " part[1] ", run " run[1] incomplete[1]
        problem = problem_of(part) "; " (at == 5 ? part[6] " cache" : part[5] " launch") ". Solid: " \
            (at == 5 ? "launched through a stream; dashed: captured once and replayed as a graph" \
            : "caches as the last run left them; dashed: emptied before each run")
        shown = (at == 5 ? "stream and graph launch" : "warm and cold cache") (clock == "host" ? ", call to end" : "")
        if (draw("crossover", chart, suffix, title_of("Time", part, shown), timed_how(part)))
            draw_crossings(chart "-" suffix)
    }
    split("", hidden)
}

# Two runs, of the algorithms that both have.
function draw_compared(this,    part, i, a, any, suffix, both, count) {
    split(this, part, ",")
    for (i = 1; i <= listed; i++) {
        both[list[i]] = has_line(1, this, list[i]) && has_line(2, this, list[i])
        count += both[list[i]]
    }
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (a in is_copy || a == "copy ceiling")
            continue
        if (both[a] && shown_of(count, a))
            any++
        else
            hidden[a] = 1
    }
    if (any) {
        variants = 2
        choose(1, 1, this, "")
        choose(2, 2, this, what_differs)
        suffix = part[2] "-" part[3] "-" part[4] other_than("stream", part[5]) other_than("warm", part[6]) "-" run[1] \
            "-against-" (machine[1] != machine[2] ? machine[2] "-" : "") run[2]
        whose = whose_runs(whose_machine(1), whose_machine(2), part[1])
        if (length(whose) > MOST_NOTE)
            whose = whose_runs(machine[1], machine[2], part[1])
        problem = problem_of(part) modes_of(part) choice_of(any, count)
        if (draw("crossover", "compared-crossover", suffix, title_of("Time", part, "two runs"), timed_how(part)))
            draw_crossings("compared-crossover-" suffix)
        draw("throughput", "compared-throughput", suffix, title_of("Throughput", part, "two runs"), timed_how(part))
    }
    split("", hidden)
}

# Host algorithms have a mode of their own.
function has_line(v, this, a,    part) {
    split(this, part, ",")
    if (a in is_copy)
        return 0
    if (!(a in on_host))
        return (v, this, a) in has
    return (part[6] != "cold" && (v, "host," part[2] "," part[3] "," part[4] ",stream,warm", a) in has) || \
        (v, "host," part[2] "," part[3] "," part[4] "," part[5] "," part[6], a) in has
}

# ------------------------------------------------------------------------------------------------ texts

function other_than(usual, word) { return word != usual && word != "" ? "-" word : "" }
function problem_of(part) { return "Kind " part[2] ", type " part[3] ", operator " part[4] }
function modes_of(part) {
    return (part[5] != "" ? "; " part[5] " launch" : "") (part[6] != "" ? ", " part[6] " cache" : "")
}
function cub_of(v) { return said[v, "cub"] != "" ? ", CUB " said[v, "cub"] : "" }

function whose_machine(v,    where) {
    where = said[v, "gpu_name"] != "" ? said[v, "gpu_name"] : said[v, "host_cpu"]
    return machine[v] (where != "" ? " (" where ")" : "")
}

function whose_runs(first, second, device) {
    return (machine[1] != machine[2] ? "Solid: machine " first ", run " : "Machine " first ", device " device "; solid: run ") \
        run[1] incomplete[1] cub_of(1) "; dashed: " (machine[1] != machine[2] ? "machine " second ", " : "") \
        "run " run[2] incomplete[2] cub_of(2)
}

# `quantity` of a scan, on what; `variants_shown` says what is told apart, "" where nothing is. A long title gets a short
# word on the CPU device.
function title_of(quantity, part, variants_shown,    text) {
    text = quantity " of " an(part[2]) " scan "
    if (simulated[1] || simulated[2])
        return text "on a SIMULATED CLOCK" (variants_shown == "" ? ", neither a GPU's nor a CPU's time" \
            : " (no GPU's, no CPU's): " variants_shown)
    if (part[1] == "cpu")
        return text "on the CPU device (" (variants_shown == "" ? "times are those of the CPU device, " : "") \
            "not of a GPU)" (variants_shown != "" ? ": " variants_shown : "")
    if (variants > 1 && machine[2] != "" && machine[2] != machine[1])
        return text "on two machines"
    return text "on " (part[1] == "host" ? "the host" : said[1, "gpu_name"] != "" ? said[1, "gpu_name"] : machine[1]) \
        (variants_shown != "" ? ": " variants_shown : "")
}
function count_of(quantity, part) {
    return quantity " of " an(part[2]) " scan" (simulated[1] ? " (from a run on a SIMULATED CLOCK)" : "")
}
function timed_how(part) { return timed_by(part) (warm_hosts ? ". Host algorithms, always warm: left out" : "") }
function timed_by(part) {
    if (simulated[1] || simulated[2])
        return "Timed: on the simulated clock" (clock == "host" ? " of the host" : "") \
            ", whose times are made up by a model; median and interval"
    if (clock == "host")
        return "Timed: from the call to the end of its work, on the host's clock; median and interval; without checking, set-up and transfers"
    return "Timed: " (part[1] == "host" ? "on the host's clock" : "between two events on the device") \
        (hosts && part[1] != "host" ? " (host algorithms: on the host's clock)" : "") \
        "; median and interval; without checking, set-up and transfers"
}

# One line, and the words that tell the second run's lines from the first's.
function tell_differences(    text, i, v, commit) {
    what_differs = machine[1] != machine[2] ? machine[2] : \
        said[1, "cub"] != said[2, "cub"] && said[2, "cub"] != "" ? "CUB " said[2, "cub"] : run[2]
    for (v = 1; v <= 2; v++) {
        said[v, "machine"] = machine[v]
        commit = said[v, "commit"]
        said[v, "version"] = said[v, "version"] (commit != "" ? " (" substr(commit, 1, 12) ")" : "")
        said[v, "clock"] = simulated[v] ? "simulated" : "real"
    }
    text = differs("machine") differs("clock") differs("driver") differs("version")
    if (text != "")
        print "the runs differ in" substr(text, 2) >(out "/differ")
    else
        printf "" >(out "/differ")
    close(out "/differ")
}
function differs(column,    a, b) {
    a = said[1, column] == "" ? "unknown" : said[1, column]
    b = said[2, column] == "" ? "unknown" : said[2, column]
    return a == b ? "" : ", " column " (" a ", " b ")"
}

# ------------------------------------------------------------------------------------------------ lines

# Variant v of the lines is this mode of run `of`, told apart by `tag`. best[v, algorithm, n]: the row that stands for it;
# by_size[1..sizes]: every n of all variants; `hosts`: how many host rows there are.
# With `counts`, host algorithms take part in a cold mode, too: counts know no cache. `warm_hosts`: how many host rows
# a cold mode leaves out.
function choose(v, of, this, tag, counts,    r, p, part, key, i) {
    if (v == 1) {
        split("", best)
        split("", known)
        sizes = hosts = warm_hosts = 0
    }
    run_of[v] = of
    variant_mode[v] = this
    tag_of[v] = tag
    split(this, part, ",")
    for (r = 1; r <= rows; r++) {
        split(mode[r], p, ",")
        if (row_of[r] != of || p[3] != part[3])
            continue
        if (name[r] in is_copy) {
            if (p[1] != part[1] || p[5] != part[5] || p[6] != part[6])
                continue
            key = v SUBSEP "copy ceiling" SUBSEP n[r]
        } else {
            if (p[2] != part[2] || p[4] != part[4] || (p[1] != "host" && mode[r] != this))
                continue
            if (p[1] == "host" && !counts && part[6] == "cold" && p[6] != "cold") {
                warm_hosts++
                continue
            }
            key = v SUBSEP name[r] SUBSEP n[r]
            hosts += p[1] == "host" && !(name[r] in hidden)
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
}

function faster(r, than) {
    return time[clock, r] != "" && (time[clock, than] == "" || time[clock, r] + 0 < time[clock, than] + 0)
}

# A host algorithm knows no launch and no cache: of two modes of one run it has one line.
function shared(v, a) { return v == 2 && run_of[1] == run_of[2] && a in on_host }

function style_of(v, a) { return style[a] + (variants == 1 ? 0 : v == 2 ? DASHED : a == "copy ceiling" ? 0 : SOLID) }

# Writes NAME.dat and NAME.gp, NAME being CHART-SUFFIX, for PICTURE.gp; the line that ends highest first, so that the key
# runs as the lines end. Returns the number of lines drawn; with none there is no chart.
function draw(picture, chart, suffix, heading, what,    i, j, a, l, v, r, x, part, lines, text, entry, number, last, rank,
              count, file, numbers, least, most, lowest, highest, uncertain, states, known_here, unknown, first, twins, note,
              worst, worst_at, landmarks, their, uncertain_of, ratio) {
    file = out "/" chart "-" suffix
    split("", drawn)
    for (i = 1; i <= variants * listed; i++) {
        a = list[int((i - 1) / variants) + 1]
        v = (i - 1) % variants + 1
        l = v SUBSEP a
        lines = worst = ""
        if ((a == "copy ceiling" && picture !~ /^(throughput|families)$/) || a in hidden || shared(v, a))
            continue
        known_here = 0
        for (j = 1; j <= sizes; j++) {
            if (!((l SUBSEP by_size[j]) in best))
                continue
            known_here = 1
            r = best[l SUBSEP by_size[j]]
            measure(picture, r)
            x = value
            if (x == "" || (x + 0 <= 0 && picture != "launches")) # no zero on a log axis
                continue
            lines = lines n[r] " " x " " least_value " " most_value "\n"
            if (doubt != "" && a != "copy ceiling") {
                uncertain++
                states[doubt] = 1
                print n[r], x, style[a], family_of(a) >(file ".unstable")
                uncertain_of[family_of(a)]++
            }
            if (worst == "" || x + 0 > worst + 0) {
                worst = x
                worst_at = n[r]
            }
            if (least == "" || n[r] + 0 < least)
                least = n[r] + 0
            if (n[r] + 0 > most + 0)
                most = n[r] + 0
            ratio = picture ~ /^(efficiency|versus_cub)$/ # whose intervals may be wide
            if (lowest == "" || (ratio ? least_value : x) + 0 < lowest)
                lowest = (ratio ? least_value : x) + 0
            if ((ratio ? most_value : x) + 0 > highest + 0)
                highest = (ratio ? most_value : x) + 0
            last[l] = picture ~ /^(crossover|additions)$/ ? x / n[r] : x + 0
        }
        if (lines == "" && known_here)
            unknown = unknown (unknown == "" ? "" : ", ") a
        if (lines == "")
            continue
        if (lines in first)
            twins[first[lines]] = twins[first[lines]] (twins[first[lines]] == "" ? "" : ", ") a
        else
            first[lines] = a
        drawn[a] = 1
        text[l] = lines
        entry[l] = title[a] (tag_of[v] != "" ? ", " tag_of[v] : "")
        if (picture == "versus_cub") {
            entry[l] = entry[l] ": " sprintf(worst >= 99.5 ? "%.0f" : "%.2f", worst) " at " power(worst_at)
            print worst_at, worst >(file ".marks")
        }
        number[l] = style_of(v, a)
        if (a == "copy ceiling")
            last[l] = 1e300 # drawn first, beneath the others
        for (j = ++count; j > 1 && last[rank[j - 1]] < last[l]; j--)
            rank[j] = rank[j - 1]
        rank[j] = l
    }
    if (!count)
        return 0
    for (i = 1; i <= count; i++) {
        printf "%s\"%s\"\n%s", (i > 1 ? "\n\n" : ""), plain(entry[rank[i]]), text[rank[i]] >(file ".dat")
        numbers = numbers " " number[rank[i]]
        split(rank[i], part, SUBSEP)
        their = their " " (part[2] == "copy ceiling" ? "ceiling" : family_of(part[2]))
        if (part[2] ~ /^(copy ceiling|serial|cub_scan)$/)
            landmarks = landmarks " " (i - 1)
    }
    close(file ".dat")
    close(file ".unstable")
    close(file ".marks")
    printf "heading = %s\nwhose = %s\nproblem = %s\nwhat = %s\n", quoted(heading), quoted(whose), quoted(problem), \
        quoted(what) >(file ".gp")
    printf "styles = '%s'\nleast = %.0f\nmost = %.0f\nlowest = %.9g\nhighest = %.9g\nuncertain = %d\nflags = 0\n", \
        numbers, least, most, lowest, highest, uncertain >(file ".gp")
    hollow_points = ("unstable" in states) && ("throttled" in states) ? "unstable or throttled" : \
        "throttled" in states ? "throttled" : "unstable"
    printf "hollow_points = '%s'\n", hollow_points >(file ".gp")
    if (variants == 2 || count > MANY + 3)
        printf "height = %d\n", HIGHER >(file ".gp")
    if (picture == "families")
        tell_families(file, their, landmarks, uncertain_of)
    if (picture ~ /^(additions|launches|efficiency|versus_cub)$/) {
        for (i = 1; i <= listed; i++)
            if (list[i] in twins && picture ~ /^(additions|launches)$/)
                note = note (note == "" ? "The same lines: " : "; ") list[i] " and " twins[list[i]]
        if (unknown != "")
            note = note (note == "" ? "" : ". ") "Not drawn, " (picture == "efficiency" ? \
                "without a copy on their device: " : picture == "versus_cub" ? "without an n of CUB's: " : "as not known: ") unknown
        note = note == "" ? "" : shortened(note ". ", MOST_NOTE - (uncertain ? 45 : 0))
        printf "note = %s\n", quoted(note) >(file ".gp")
    }
    if (picture == "throughput")
        printf "ceiling = %.9g\n", ceiling_of_run() >(file ".gp")
    close(file ".gp")
    note_taken = uncertain ? length("Hollow points: .") + length(hollow_points) : 0
    print picture, chart "-" suffix >(out "/charts")
    drawn_chart[chart] = 1
    return count
}

# What a row says in a picture: value, and the interval least_value to most_value; `doubt`, if it did not become stable.
function measure(picture, r) {
    doubt = picture ~ /^(additions|launches)$/ ? "" : state[r]
    value = picture == "crossover" ? time[clock, r] : picture ~ /^(throughput|families)$/ ? rate[r] : \
        picture == "additions" ? additions[r] : launches[r]
    if (picture == "efficiency")
        value = quotient(copy_beside(r), r)
    else if (picture == "versus_cub")
        value = quotient(r, cub_at(n[r]))
    else {
        least_value = most_value = value
        if (picture == "crossover" && low[clock, r] != "" && high[clock, r] != "") {
            least_value = low[clock, r]
            most_value = high[clock, r]
        }
    }
}

# At a comma or a semicolon, so that it is no longer than `most` characters.
function shortened(text, most) {
    if (length(text) <= most)
        return text
    text = substr(text, 1, most - 3)
    sub(/[,;.] [^,;.]*$/, "", text)
    return text " ... "
}

# Elements a second of the copy that a run measured by itself, at its largest n, as it has no copies among its rows.
function ceiling_of_run(    part) {
    split(variant_mode[1], part, ",")
    if (variants > 1 || part[1] == "host" || "copy ceiling" in drawn || said[1, "copy_gb_per_s"] + 0 <= 0)
        return 0
    return said[1, "copy_gb_per_s"] * 1e9 / (2 * (part[3] ~ /64/ ? 8 : 4))
}

# ------------------------------------------------------------------------------------------------ crossings

# A band a crossing, as wide as its interval, and a flag: a pole from it up to its text above the frame. A text stands to the right of its pole; of two that
# would touch, the left one stands higher, so that no pole runs through a text.
function draw_crossings(chart,    c, p, v, i, j, flags, order, of_order, y, row, top, most, width, span, names, where, part, text,
                        note) {
    for (v = 1; v <= variants; v++) {
        split(variant_mode[v], part, ",")
        for (c = 1; c <= crossings; c++) {
            split(crossing_mode[c], p, ",")
            if (crossing_of[c] != run_of[v] || crossing_clock[c] != clock || p[2] != part[2] || p[3] != part[3] || p[4] != part[4])
                continue
            if (p[1] == "host" ? v == 2 && run_of[1] == run_of[2] : crossing_mode[c] != variant_mode[v])
                continue
            if (!(below[c] in marked && above[c] in marked) || below[c] in hidden || above[c] in hidden)
                continue
            if ((y[v, c] = time_at(v, below[c], estimate[c])) == "")
                continue
            for (i = ++flags; i > 1 && estimate[order[i - 1]] + 0 > estimate[c] + 0; i--) {
                order[i] = order[i - 1]
                of_order[i] = of_order[i - 1]
            }
            order[i] = c
            of_order[i] = v
        }
    }
    most = variants == 2 ? 1.5 * MOST_ROWS : MOST_ROWS
    span = log(by_size[sizes] / by_size[1]) + log(1.5)
    for (i = flags; i > 0; i--) {
        text[i] = pair(order[i]) (crossing_mode[order[i]] !~ /^host,/ && tag_of[of_order[i]] != "" ? ", " tag_of[of_order[i]] : "")
        width = 0.02 + 0.0098 * length(text[i])
        row[i] = 1
        for (j = i + 1; j <= flags; j++)
            if (log(estimate[order[j]] / estimate[order[i]]) < width * span && row[j] >= row[i])
                row[i] = row[j] + 1
        if (row[i] > top && row[i] <= most)
            top = row[i]
    }
    for (i = 1; i <= listed; i++)
        if (list[i] in marked && list[i] in drawn)
            names = names (names == "" ? "" : ", ") list[i]
    note = "; a ring and its band: estimate and interval. All pairs: " (of == 2 ? "scanbench crossover. " : "crossovers.csv. ")
    if (length("Flags: crossovers between " names note) + note_taken > MOST_NOTE)
        names = "the algorithms asked for"
    chart = out "/" chart
    printf "flags = %d\nflags_note = %s\n", top, quoted("Flags: crossovers between " names note) >>(chart ".gp")
    for (i = 1; i <= flags; i++) {
        c = order[i]
        v = of_order[i]
        print estimate[c], y[v, c], last_below[c], first_above[c] >(chart ".marks")
        if (row[i] > most)
            continue # a ring without a flag
        where = "first " estimate[c] ", screen flag(" row[i] ")"
        printf "set object rectangle from first %s, graph 0 to first %s, graph 1 behind fc rgb '#777777' fs transparent solid 0.13 noborder\n", \
            last_below[c], first_above[c] >(chart ".flags")
        printf "set arrow from first %s, first %s to %s nohead ls %d\n", estimate[c], y[v, c], where, \
            v == 2 ? 202 : 201 >(chart ".flags")
        printf "set label \"%s\\n%s\" at %s left offset 0.5,-0.4 font small noenhanced\n", \
            "n = 2^" sprintf("%.1f", log(estimate[c]) / log(2)) ", about " rounded(estimate[c]), text[i], where >(chart ".flags")
    }
    close(chart ".flags")
    close(chart ".marks")
    close(chart ".gp")
}

function pair(c) { return plain(title[below[c]]) " \342\206\222 " plain(title[above[c]]) } # the arrow, in UTF-8

# An algorithm's time at x, on the line drawn between its neighbouring sizes; empty outside of them.
function time_at(v, algorithm, x,    j, r, left, right, share) {
    for (j = 1; j <= sizes && right == ""; j++) {
        if (!((v, algorithm, by_size[j]) in best) || time[clock, best[v, algorithm, by_size[j]]] == "")
            continue
        r = best[v, algorithm, by_size[j]]
        if (by_size[j] + 0 <= x + 0)
            left = r
        else
            right = r
    }
    if (left == "" || (right == "" && n[left] + 0 != x + 0))
        return ""
    if (right == "")
        return time[clock, left]
    share = log(x / n[left]) / log(n[right] / n[left])
    return sprintf("%.9g", exp((1 - share) * log(time[clock, left]) + share * log(time[clock, right])))
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
