# SPDX-License-Identifier: MIT
# Additions for each element against n: gnuplot -c scripts/additions.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y 2
set ytics 1, 2
set yrange [0.5:*]
set format y '%.3g'
set ylabel 'additions for each element'
set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
plot for [i = 0:count - 1] data index i using 1:($2 / $1) with linespoints ls style(i) title columnheader(1)
load 'scripts/formats.gp'
