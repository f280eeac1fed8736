# SPDX-License-Identifier: MIT
# Panels side by side, the key below them. A chart sets name, output, the array panels with their titles, the functions
# axes(p), commands for the axes of panel p, and least_of(p), the height of a grey line or 0, with least_title, the y_label
# of the first panel, and loads this file. NAME.gp lists the panels that have something to show.
load 'scripts/style.gp'
longest = strlen(least_title)
do for [i = 1:count] { if (strlen(titles[i]) > longest) { longest = strlen(titles[i]) } }
columns = longest > 67 ? 1 : longest > 40 ? 2 : longest > 22 ? 3 : 4 # of the key
rows = ceil((count + (least_title ne '')) / real(columns))
foot = 0.165 + 0.035 * rows
set tmargin at screen 0.775
set bmargin at screen foot
unset ylabel
inset = y_label eq '' ? 0.06 : 0.09
side = (0.985 - inset - 0.065 * (words(shown) - 1)) / words(shown)
set key at screen 0.52, screen 0.055 + 0.0175 * rows center center vertical maxrows rows Left reverse noenhanced \
    samplen 3.5 spacing 1.15 width 1 font ',11'
if (over_threads) {
    set xlabel 'threads of a block' offset 0, 0.3
    set format x '%.0f'
    set xtics 1, 2
}
if (!over_threads && powers >= 2) { set xtics 1, most / least > 2 ** 12 ? 16 : most / least > 2 ** 6 ? 4 : 2 }

grey(p) = least_of(p) > 0 ? sprintf('%g with lines ls 100 lw 4 notitle', least_of(p)) : 'NaN notitle'
entries = least_title eq '' ? '' : ', keyentry with lines ls 100 lw 4 title least_title'
do for [i = 1:count] {
    entries = entries.sprintf(', keyentry with linespoints ls %d title titles[%d]', style(i - 1), i)
}
do for [f = 1:3] {
    eval(begin(f))
    set multiplot
    load 'scripts/headings.gp'
    set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
    do for [place = 1:words(shown)] {
        p = int(word(shown, place))
        left = inset + (place - 1) * (side + 0.065)
        set lmargin at screen left
        set rmargin at screen left + side
        if (place == 1 && y_label ne '') { set ylabel y_label offset 0.5, 0 } else { unset ylabel }
        set title panels[p] font ',12'
        eval(axes(p))
        command = 'plot '.grey(p)
        do for [b in blocks[p]] {
            command = command.sprintf(', data index %d using 1:%d with linespoints ls %d notitle', int(b), p + 1, style(int(b)))
        }
        eval(command.(place == 1 ? entries : ''))
        unset label
    }
    unset multiplot
}
set output
