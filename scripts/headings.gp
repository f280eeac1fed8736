# SPDX-License-Identifier: MIT
# The heading of a chart and the three lines below it.
set label 1001 heading at screen 0.02, 0.965 font ',14' noenhanced
set label 1002 whose at screen 0.02, 0.926 font small noenhanced tc rgb '#444444'
set label 1003 problem at screen 0.02, 0.899 font small noenhanced tc rgb '#444444'
set label 1004 what at screen 0.02, 0.872 font small noenhanced tc rgb '#444444'
