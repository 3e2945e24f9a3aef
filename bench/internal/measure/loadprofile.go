package measure

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// WhileProfiled runs a load, and has the server take a profile of itself meanwhile if one is asked for. The error is that of
// the profile, which is waited for.
func (l Load) WhileProfiled(ctx context.Context, target *server.Target, run func()) (err error) {
	var profiling sync.WaitGroup
	if l.Profile != "" {
		profiling.Go(func() { err = profile(ctx, target, l.Profile, l.Duration) })
	}
	run()
	profiling.Wait()
	return err
}

// profile writes the CPU profile that a server takes of itself while a load is driven for a time.
func profile(ctx context.Context, target *server.Target, path string, duration time.Duration) error {
	own := *target
	own.Timeout = duration + target.Timeout
	c := own.Conn()
	defer c.Close()
	if err := c.Dial(ctx); err != nil {
		return err
	}
	answer, err := c.Expect(http.StatusOK, http.MethodGet, fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(duration.Seconds()))), "", nil)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(path, answer, 0o644)
}
