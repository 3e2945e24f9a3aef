package daemon

import (
	"fmt"
	"io"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/internal/metrics"
)

func (s *settings) writeProcess(w io.Writer) {
	metrics.Write(w,
		metrics.GaugeValue("troupe_info", "Version and naming profile of the server.", metrics.Samples{
			fmt.Sprintf("version=%q,naming=%q", Version, s.naming.Profile): 1}),
		metrics.GaugeValue("troupe_uptime_seconds", "Time since the start.", time.Since(s.startedAt).Round(time.Millisecond).Seconds()),
	)
	vm.WriteProcessMetrics(w)
	vm.WriteFDMetrics(w)
}

// writeMetrics writes the memory metrics. Without a memory limit, m is nil and nothing is written.
func (m *memoryMonitor) writeMetrics(w io.Writer) {
	if m == nil {
		return
	}
	metrics.Write(w,
		metrics.GaugeValue("troupe_memory_limit_bytes", "Memory limit of the process.", max(0, m.limit)),
		metrics.GaugeValue("troupe_memory_used_bytes", "Memory in use, without garbage.", max(0, m.used.Load())),
		metrics.GaugeValue("troupe_memory_scarce", "1 while writes, lists and watches are rejected because memory is scarce.", m.UnderPressure()),
	)
}
