package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/http"
)

// unreadable tells in the verbose form of /readyz how many stored objects cannot be read. The
// rest is served, so that they make nobody unready; who they are is for administrators.
func unreadable(store *actors.Store) http.Check {
	return http.Check{
		Name:  "stored-objects",
		Check: func() error { return nil },
		Remark: func() string {
			n := len(store.Unreadable())
			if n == 0 {
				return ""
			}
			return fmt.Sprintf(": %d cannot be read and are set aside, as troupe status tells", n)
		},
	}
}
