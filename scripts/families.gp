# SPDX-License-Identifier: MIT
# Elements per second against n, a panel a family: gnuplot -c scripts/families.gp NAME OUTPUT
name = ARG1
output = ARG2
height = 700
load 'scripts/style.gp'
set logscale y
set format y '%.0s %c'
set yrange [lowest / 1.5:highest * 1.5]
set xtics 1, most / least > 2 ** 12 ? 16 : 4
unset xlabel
unset ylabel
across = words(panels) > 1 ? 2 : 1
down = (words(panels) + across - 1) / across
landmark(i) = style(i) == 100 ? 100 : 203 + style(i) % 2
in_panel = 'name.".unstable" using 1:(strcol(4) eq word(panels, p) ? $2 : NaN)'
hollow_here = ', '.in_panel.':(shape($3)) with points pt variable ps 0.8 lc rgb "white" notitle, ' \
    .in_panel.':(shape($3) - 1):(colour($3)) with points pt variable ps 0.8 lc rgb variable notitle'
do for [f = 1:3] {
    eval(begin(f))
    set multiplot
    load 'scripts/headings.gp'
    set label 1005 hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
    do for [p = 1:words(panels)] {
        left = 0.07 + ((p - 1) % across) * 0.5
        top = 0.81 - ((p - 1) / across) * 0.76 / down
        set lmargin at screen left
        set rmargin at screen left + (across > 1 ? 0.235 : 0.7)
        set tmargin at screen top
        set bmargin at screen top - 0.76 / down + 0.085
        set key at screen left + (across > 1 ? 0.245 : 0.71), screen top - 0.38 / down + 0.04 left center samplen 2.5 font ',9'
        set title family_titles[p] font ',12'
        eval('plot NaN notitle, for [i in greys[p]] data index int(i) using 1:2 with lines ls landmark(int(i)) ' \
            .'title columnheader(1), for [i in blocks[p]] data index int(i) using 1:2 with linespoints ls style(int(i)) ' \
            .'title columnheader(1)'.(hollows[p] ? hollow_here : ''))
        unset label
    }
    unset multiplot
}
set output
