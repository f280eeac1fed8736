# SPDX-License-Identifier: MIT
# Time in one run over the time in another, with intervals: gnuplot -c scripts/ratio.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set ylabel y_label offset 0, 0
if (highest > 4 * lowest) {
    set logscale y
    set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
}
set format y '%.4g'
set yrange [lowest < 0.95 ? lowest / 1.06 : 0.95:highest > 1.05 ? highest * 1.06 : 1.05]
set label 1005 note.hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
bars = ', for [i = 0:count - 1] data index i using 1:2:3:4 with yerrorbars ls style(i) dt 1 pt 0 lw 1 notitle'
lines = ', for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1)'
eval('plot 1 with lines ls 100 lw 3 notitle'.bars.lines.hollow)
load 'scripts/formats.gp'
