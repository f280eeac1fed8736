# SPDX-License-Identifier: MIT
# Launches against n: gnuplot -c scripts/launches.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set ylabel 'launches'
set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
if (highest > 0) set yrange [0:*]; else set yrange [0:1]
plot for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1)
load 'scripts/formats.gp'
