# SPDX-License-Identifier: MIT
# What the cost model says (lines), and where `points` is 1 the times it is held against (points, the even blocks); a
# watermark where it is a PREDICTION: gnuplot -c scripts/model.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y
set format y '%.0s %cs'
set ylabel 'time of one scan'
set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
set label 1006 watermark at graph 0.5, 0.5 center rotate by 24 font ',54' tc rgb '#c0909090'
if (two_arrays >= least && two_arrays <= most) {
    set arrow 1 from first two_arrays, graph 0 to first two_arrays, graph 1 nohead ls 203
    set label 1007 '2 arrays fill the L2' at first two_arrays, graph 0.97 right rotate by 90 offset -0.7, 0 \
        font ',9' tc rgb '#444444'
}
if (one_array >= least && one_array <= most) {
    set arrow 2 from first one_array, graph 0 to first one_array, graph 1 nohead ls 204
    set label 1008 '1 array' at first one_array, graph 0.97 right rotate by 90 offset 0.9, 0 font ',9' tc rgb '#444444'
}
set key font ',10'
lines = 'for [i = points:count - 1:1 + points] data index i using 1:2 with lines ls style(i) lw 1.6 title columnheader(1)'
marks = points ? ', for [i = 0:count - 1:2] data index i using 1:2 with points ls style(i) ps 0.9 title columnheader(1)' : ''
eval('plot '.lines.marks)
load 'scripts/formats.gp'
