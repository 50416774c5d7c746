package escape

import "flag"

var ratios = flag.Bool("ratios", false, "measure, and hold the times to what is promised")
