# SPDX-License-Identifier: MIT
# Several runs in one chart: gnuplot -c scripts/overlay.gp NAME OUTPUT. Line j is of algorithm word(algorithms, j + 1), told by
# its colour and point, in run word(runs, j + 1), told by its dash. `unit`: seconds, or a share of 1.
name = ARG1
output = ARG2
load 'scripts/style.gp'
array dashes = ['solid', '(8, 5)', '(2, 3)', '(12, 4, 2, 4)', '(4, 3)']
do for [j = 1:count] {
    i = int(word(algorithms, j))
    eval(sprintf('set style line %d lw 1.6 ps 0.8 dt %s lc rgb %d pt %d', 600 + j, dashes[1 + (int(word(runs, j)) - 1) % 5], \
        colour(i), shape(i)))
}
set logscale y
if (unit eq 'seconds') { set format y '%.0s %cs' } else {
    set format y '%.4g'
    set ytics (1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
    set yrange [lowest / 1.2:]
}
set ylabel y_label
set label 1005 note.hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
one = unit eq 'seconds' ? '' : '1 with lines ls 100 lw 3 notitle, '
eval('plot '.one.'for [j = 0:count - 1] data index j using 1:2 with linespoints ls 601 + j title columnheader(1)'.hollow)
load 'scripts/formats.gp'
