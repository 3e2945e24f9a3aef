package daemon

import (
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// writeProcess writes what the process itself is and uses. The names of process metrics are those that
// dashboards know.
func (s *settings) writeProcess(w io.Writer) {
	writeGaugeHead(w, "troupe_info", "The daemon's version and naming profile.")
	metrics.WriteGaugeUint64(w, fmt.Sprintf("troupe_info{version=%q,naming=%q}", Version, s.naming.Profile), 1)
	writeGaugeHead(w, "troupe_uptime_seconds", "Time since the start.")
	metrics.WriteGaugeFloat64(w, "troupe_uptime_seconds", time.Since(s.startedAt).Round(time.Millisecond).Seconds())
	metrics.WriteProcessMetrics(w)
	metrics.WriteFDMetrics(w)
}

// writeGauge writes one gauge without labels, which is never negative.
func writeGauge(w io.Writer, name, help string, value int64) {
	writeGaugeHead(w, name, help)
	metrics.WriteGaugeUint64(w, name, uint64(max(0, value)))
}

// writeGaugeHead writes the help and the type of a gauge. The metrics library writes no help texts.
func writeGaugeHead(w io.Writer, name, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s gauge\n", name, help)
}
