package daemon

import (
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// writeProcess writes what the process itself is and uses.
func (d *Daemon) writeProcess(w io.Writer) {
	fmt.Fprintf(w, "# HELP troupe_info The daemon's version and naming profile.\n# TYPE troupe_info gauge\ntroupe_info{version=%q,naming=%q} 1\n",
		Version, d.naming.Profile)
	fmt.Fprintf(w, "# HELP troupe_uptime_seconds Time since the start.\n# TYPE troupe_uptime_seconds gauge\ntroupe_uptime_seconds %.3f\n",
		time.Since(d.startedAt).Seconds())
	metrics.WriteProcessMetrics(w)
	metrics.WriteFDMetrics(w)
}
