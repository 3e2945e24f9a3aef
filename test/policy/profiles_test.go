package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A profileSession is a session with a daemon in one naming profile. Tests write requests and
// expected responses in the platform profile.
type profileSession struct {
	client.Session
	profile string
}

func openProfile(t *testing.T, profile string, change func(*daemon.Config)) profileSession {
	t.Helper()
	return profileSession{client.Open(t, func(c *daemon.Config) {
		c.Naming = profile
		if change != nil {
			change(c)
		}
	}), profile}
}

func (s profileSession) named(text string) string { return client.Named(s.profile, text) }
