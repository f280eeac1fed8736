# SPDX-License-Identifier: MIT
# The charts of chart-data.awk that only a run on a GPU has, or one on a simulated clock:
#
#   efficiency   time of a copy over that of the scan. The copy is the faster one of copy kernel and memcpy on the same
#                device, at the same n, launch and cache, of the same run
#   versus_cub   time of a scan over that of CUB, which is the faster one of cub_scan and cub_scan_64 at each n: a caller
#                can have either
#   ladder       elements a second at three sizes, a bar an algorithm. NAME.dat has a block a size, of rows of place,
#                elements a second or 0, 1 where they are not stable, number of the family, text
#
# The interval of a quotient is the widest that those of the two medians allow.

# Row r over row s, on the device's clock.
function quotient(r, s) {
    value = least_value = most_value = ""
    if (!r || !s || time["device", r] == "" || time["device", s] == "")
        return ""
    if (doubt == "" || doubt == "unstable")
        doubt = state[r] != "" && state[r] != "unstable" ? state[r] : state[s] != "" ? state[s] : state[r]
    value = sprintf("%.9g", time["device", r] / time["device", s])
    least_value = most_value = value
    if (low["device", r] != "" && high["device", r] != "" && low["device", s] != "" && high["device", s] != "") {
        least_value = sprintf("%.9g", low["device", r] / high["device", s])
        most_value = sprintf("%.9g", high["device", r] / low["device", s])
    }
    return value
}

# The fastest copy of each device, type, launch, cache and n.
function choose_copies(    r, key) {
    for (r = 1; r <= rows; r++) {
        if (!(name[r] in is_copy))
            continue
        key = copy_key(r)
        if (!(key in copy_at) || faster(r, copy_at[key]))
            copy_at[key] = r
    }
}
function copy_key(r,    part) {
    split(mode[r], part, ",")
    return part[1] SUBSEP part[3] SUBSEP part[5] SUBSEP part[6] SUBSEP n[r]
}
function copy_beside(r) { return copy_key(r) in copy_at ? copy_at[copy_key(r)] : 0 }

function cub_at(size,    a, b) {
    a = ((1, "cub_scan", size) in best) ? best[1, "cub_scan", size] : 0
    b = ((1, "cub_scan_64", size) in best) ? best[1, "cub_scan_64", size] : 0
    return !a ? b : !b ? a : faster(b, a) ? b : a
}

# Of one mode, whose rows are chosen.
function draw_ratios(this, part, suffix, timed,    i, a, kept, shown) {
    if (!has_gpu[1] && !simulated[1]) {
        left_out["efficiency"] = left_out["versus_cub"] = left_out["ladder"] = "the run has no row of a GPU"
        return
    }
    if (!draw("efficiency", "efficiency", suffix, title_of("Efficiency", part, ""), \
        "Median of a copy over that of the scan; the copy: at each n the faster one of copy kernel and memcpy on the same device; " \
        "bars: what intervals allow"))
        left_out["efficiency"] = "the run has no copy beside a scan"
    for (i = 1; i <= listed; i++)
        if (list[i] in hidden)
            kept[list[i]] = 1
    split("", hidden)
    problem = problem_of(part) modes_of(part)
    draw_ladder(this, part, suffix, timed)
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (a ~ /^cub_scan(_64)?$/ || !(only == "" ? ("cub", a) in on_chart : shown_of(0, a)))
            hidden[a] = 1
        else if (has_line(1, this, a))
            shown++
    }
    if (!(has_cub(this, "cub_scan") || has_cub(this, "cub_scan_64")))
        left_out["versus_cub"] = "the run has no time of cub_scan"
    else if (!shown)
        left_out["versus_cub"] = "the run has none of the algorithms to compare (ALGORITHMS= names others)"
    else {
        problem = problem cub_of(1)
        if (!draw("versus_cub", "versus_cub", suffix, title_of("Time relative to CUB", part, ""), \
            "Median of the scan over that of CUB, at each n the faster one of cub_scan and cub_scan_64; bars: what intervals allow"))
            left_out["versus_cub"] = "the run has no n in common with cub_scan"
    }
    split("", hidden)
    for (a in kept)
        hidden[a] = 1
}
function has_cub(this, a) { return (1, this, a) in has }

# "efficiency, ladder: why; versus_cub: why".
function tell_left_out(    count, chart, i, text, done) {
    count = split("efficiency versus_cub ladder", chart, " ")
    for (i = 1; i <= count; i++) {
        if (chart[i] in drawn_chart || !(chart[i] in left_out))
            continue
        if (done != left_out[chart[i]])
            text = text (text == "" ? "" : ": " done "; ") chart[i]
        else
            text = text ", " chart[i]
        done = left_out[chart[i]]
    }
    if (text != "")
        print text ": " done >(out "/left_out")
    close(out "/left_out")
}

# ------------------------------------------------------------------------------------------------ ladder

function draw_ladder(this, part, suffix, timed,    i, j, p, a, r, copy, at, heads, size, count, ladder, order, file, speed, text, \
                     lowest, highest, uncertain, states, names, families_here, ceilings, panels, heading, doubts, note, sure, unsure, stable, doubtful) {
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (!(a in is_copy) && a != "copy ceiling" && shown_of(0, a) && was_tried(this, a))
            ladder[++count] = a
    }
    panels = ladder_sizes(part, ladder, count, size, heads)
    if (!panels) {
        left_out["ladder"] = "the run has no time of a scan"
        return
    }
    for (i = 1; i <= count; i++) { # insertion by speed, the fastest first
        a = ladder[i]
        for (j = i; j > 1 && is_faster(a, order[j - 1], size, panels); j--)
            order[j] = order[j - 1]
        order[j] = a
    }
    file = out "/ladder-" suffix
    for (p = 1; p <= panels; p++) {
        sure = unsure = 0
        copy = ((1, "copy ceiling", size[p]) in best) ? best[1, "copy ceiling", size[p]] : 0
        printf "%s", (p > 1 ? "\n\n" : "") >(file ".dat")
        for (i = 1; i <= count; i++) {
            a = order[i]
            speed = speed_at(a, size[p])
            if (speed == "") {
                print i, 0, 0, family_number(a), "\"" plain(outcome_at(this, a, size[p])) "\"" >(file ".dat")
                continue
            }
            r = best[1, a, size[p]]
            if (state[r] != "")
                doubts[state[r]] = ++unsure
            else
                sure++
            text = copy ? percent(time["device", copy] / time["device", r]) : short(speed)
            print i, speed, state[r] != "", family_number(a), "\"" text "\"" >(file ".dat")
            if (lowest == "" || speed + 0 < lowest)
                lowest = speed + 0
            if (speed + 0 > highest + 0)
                highest = speed + 0
        }
        if (copy && rate[copy] + 0 > highest)
            highest = rate[copy] + 0
        ceilings = ceilings (p > 1 ? ", " : "") (copy ? rate[copy] : 0)
        heading = heading (p > 1 ? ", " : "") quoted(heads[p])
        stable = stable (p > 1 ? ", " : "") sure
        doubtful = doubtful (p > 1 ? ", " : "") unsure
        uncertain += unsure
    }
    close(file ".dat")
    for (i = 1; i <= count; i++) {
        names = names (i > 1 ? ", " : "") quoted(title[order[i]])
        families_here[family_number(order[i])] = 1
    }
    if (said[1, "l2_bytes"] + 0 <= 0)
        note = "No size for the L2: machine.csv has no l2_bytes. "
    hollow_points = ("unstable" in doubts) && ("throttled" in doubts) ? "unstable or throttled" : \
        "throttled" in doubts ? "throttled" : "unstable"
    printf "heading = %s\nwhose = %s\nproblem = %s\nwhat = %s\nnote = %s\n", \
        quoted(title_of("Speed", part, "")), quoted(whose), quoted(problem), quoted(timed), \
        quoted((index(ceilings, "e") || ceilings ~ /[1-9]/ ? "Line: the copy; percent: of its speed. " : "") note \
        (uncertain ? "Hollow bars: " hollow_points ". " : "")) >(file ".gp")
    printf "styles = ''\nleast = %.0f\nmost = %.0f\nlowest = %.9g\nhighest = %.9g\nuncertain = 0\nflags = 0\n", \
        size[1], size[panels], lowest, highest >(file ".gp")
    printf "height = %d\nrungs = %d\narray names = [%s]\narray heads = [%s]\narray ceilings = [%s]\narray stable = [%s]\narray doubtful = [%s]\n", \
        (count > MANY ? HIGHER : 540), count, names, heading, ceilings, stable, doubtful >(file ".gp")
    tell_family_titles(file, families_here)
    close(file ".gp")
    print "ladder", "ladder-" suffix >(out "/charts")
    drawn_chart["ladder"] = 1
}

# Sizes of the panels, and their titles: small, one at which input and output fill half of the L2, large.
function ladder_sizes(part, ladder, count, size, heads,    i, j, k, timed, panels, small, resident, large, bytes, limit, most) {
    bytes = part[3] ~ /64/ ? 8 : 4
    limit = said[1, "l2_bytes"] / 4 / bytes
    most = most_timed(ladder, count)
    for (j = 1; j <= sizes; j++) {
        timed = 0
        for (i = 1; i <= count; i++)
            timed += speed_at(ladder[i], by_size[j]) != ""
        if (!timed)
            continue
        k = by_size[j] + 0
        if (!small || k == 1024)
            small = k
        if (2 * timed >= most)
            large = k
        if (2 * timed >= most && k <= limit)
            resident = k
    }
    if (!small)
        return 0
    if (small < large)
        add_panel(size, heads, ++panels, small, "Small: ")
    if (resident > small && resident < large)
        add_panel(size, heads, ++panels, resident, "In half of the L2: ")
    add_panel(size, heads, ++panels, large, large <= limit ? "Largest, in half of the L2: " : "Large: ")
    return panels
}
function add_panel(size, heads, p, at, text) {
    size[p] = at
    heads[p] = text "n = " power(at)
}
# At the size that most algorithms have in common: how many.
function most_timed(ladder, count,    i, j, timed, most) {
    for (j = 1; j <= sizes; j++) {
        timed = 0
        for (i = 1; i <= count; i++)
            timed += speed_at(ladder[i], by_size[j]) != ""
        if (timed > most + 0)
            most = timed
    }
    return most
}

function speed_at(a, size) { return ((1, a, size) in best) ? rate[best[1, a, size]] : "" }

# At the largest size; those without a time there stand behind, by the next smaller one.
function is_faster(a, than, size, panels,    p, x, y) {
    for (p = panels; p > 0; p--) {
        x = speed_at(a, size[p])
        y = speed_at(than, size[p])
        if (x != "" || y != "")
            return x + 0 > y + 0
    }
    return 0
}

function host_mode(this,    part) {
    split(this, part, ",")
    return part[6] == "cold" ? "" : "host," part[2] "," part[3] "," part[4] ",stream,warm"
}
function was_tried(this, a) { return ((1, this, a) in tried) || ((1, host_mode(this), a) in tried) }
function outcome_at(this, a, size) {
    if ((1, this, a, size) in outcome)
        return outcome[1, this, a, size]
    return ((1, host_mode(this), a, size) in outcome) ? outcome[1, host_mode(this), a, size] : "not measured"
}

function percent(x) { return sprintf(x >= 0.095 ? "%.0f %%" : x >= 0.0095 ? "%.1f %%" : "%.1g %%", 100 * x) }
function short(x,    i) {
    for (i = 1; i < 5 && x >= 999.5; i++)
        x /= 1000
    return sprintf(x < 9.995 ? "%.2f" : x < 99.95 ? "%.1f" : "%.0f", x) (i > 1 ? " " substr("kMGT", i - 1, 1) : "")
}

# ------------------------------------------------------------------------------------------------ families

function family_number(a,    i) {
    for (i = 1; families[i] != family_of(a); i++)
        ;
    return i
}

# For the chart `families`: of each panel its family, the blocks of its lines, those of the landmarks, which stand in every
# panel, and how many points are hollow. `their`: the family of each block.
function tell_families(file, their, landmarks, uncertain_of,    i, j, words, marks, w, m, own, grey, here, panels, blocks, greys, hollows) {
    w = split(their, words, " ")
    m = split(landmarks, marks, " ")
    for (i = 1; i <= family_count; i++) {
        own = grey = ""
        for (j = 1; j <= w; j++)
            if (words[j] == families[i])
                own = own " " (j - 1)
        for (j = 1; j <= m; j++)
            if (words[marks[j] + 1] != families[i])
                grey = grey " " marks[j]
        if (own == "")
            continue
        here[i] = 1
        panels = panels " " families[i]
        blocks = blocks (blocks == "" ? "" : ", ") quoted(own)
        greys = greys (greys == "" ? "" : ", ") quoted(grey)
        hollows = hollows (hollows == "" ? "" : ", ") (uncertain_of[families[i]] + 0)
    }
    printf "panels = '%s'\narray blocks = [%s]\narray greys = [%s]\narray hollows = [%s]\n", panels, blocks, greys, hollows >(file ".gp")
    tell_family_titles(file, here)
}

# Of the families that are here: numbers and titles.
function tell_family_titles(file, here,    i, numbers, titles) {
    for (i = 1; i <= family_count; i++) {
        if (!(i in here))
            continue
        numbers = numbers " " i
        titles = titles (titles == "" ? "" : ", ") quoted(family_title[families[i]])
    }
    printf "family_numbers = '%s'\narray family_titles = [%s]\n", numbers, titles >(file ".gp")
}
