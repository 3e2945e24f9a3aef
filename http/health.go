package http

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
)

// A Check is one condition of health. Its error is only logged, never shown.
type Check struct {
	Name  string
	Check func() error
	// Remark, if set, is what the verbose form says beside "ok"; everybody may read it.
	Remark func() string
}

// healthNames are the three health endpoints.
var healthNames = []string{"livez", "readyz", "healthz"}

// isHealth tells the paths of health endpoints.
func isHealth(path string) bool {
	for _, name := range healthNames {
		if rest, ok := strings.CutPrefix(path, "/"+name); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

var errDraining = errors.New("the server is shutting down")

// checks are the conditions of one endpoint.
func (s *Server) checks(endpoint string) []Check {
	all := append([]Check{{Name: "ping", Check: func() error { return nil }}}, s.opts.Checks...)
	if endpoint == "readyz" {
		all = append(all, Check{Name: "shutdown", Check: func() error {
			if s.draining.Load() {
				return errDraining
			}
			return nil
		}})
	}
	return all
}

// health answers one endpoint: "ok" in short, or every check with ?verbose or when one fails.
func (s *Server) health(endpoint string) func(*requestContext) error {
	checks := s.checks(endpoint)
	return func(x *requestContext) error {
		excluded := x.query.Values("exclude")
		var lines strings.Builder
		failed := false
		for _, c := range checks {
			if slices.Contains(excluded, c.Name) {
				fmt.Fprintf(&lines, "[+]%s excluded: ok\n", c.Name)
				continue
			}
			failed = s.runCheck(&lines, endpoint, c) || failed
		}
		verbose := x.query.Flag("verbose")
		switch {
		case failed:
			x.ctx.SetStatusCode(500)
			s.writeText(x, lines.String()+endpoint+" check failed\n")
		case verbose:
			s.writeText(x, lines.String()+endpoint+" check passed\n")
		default:
			s.writeText(x, "ok")
		}
		return nil
	}
}

// runCheck writes one line and tells whether the check failed.
func (s *Server) runCheck(lines *strings.Builder, endpoint string, c Check) bool {
	err := c.Check()
	if err == nil {
		remark := ""
		if c.Remark != nil {
			remark = c.Remark()
		}
		fmt.Fprintf(lines, "[+]%s ok%s\n", c.Name, remark)
		return false
	}
	s.log.Warn("http: health check failed", "endpoint", endpoint, "check", c.Name, "error", err)
	fmt.Fprintf(lines, "[-]%s failed: reason withheld\n", c.Name)
	return true
}

// healthCheck answers one check alone, as in /livez/ping.
func (s *Server) healthCheck(endpoint string) func(*requestContext) error {
	checks := s.checks(endpoint)
	return func(x *requestContext) error {
		name := strings.TrimPrefix(x.info.Path, "/"+endpoint+"/")
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
		if i < 0 {
			return apierrors.PathNotFound()
		}
		if err := checks[i].Check(); err != nil {
			s.log.Warn("http: health check failed", "endpoint", endpoint, "check", name, "error", err)
			x.ctx.SetStatusCode(500)
			s.writeText(x, "internal server error: reason withheld\n")
			return nil
		}
		s.writeText(x, "ok")
		return nil
	}
}

// writeText answers plain text.
func (s *Server) writeText(x *requestContext, text string) {
	x.setHeader("X-Content-Type-Options", "nosniff")
	s.writeRaw(x, negotiate.TypeText, []byte(text))
}
