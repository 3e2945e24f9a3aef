package plugins

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
)

// accountWait is the maximum wait for the default account of a new namespace, and accountRetry is
// the poll interval. The controller usually creates the account within milliseconds.
const (
	accountWait  = time.Second
	accountRetry = 10 * time.Millisecond
)

// An accountWaiter waits for the default account, which a controller creates soon after the
// namespace. Otherwise the first Pods would be rejected.
type accountWaiter struct{ *serviceAccountPlugin }

// Handles reports whether serviceAccountPlugin has left the Pod without an account.
func (w accountWaiter) Handles(a *request.Attributes) bool {
	return a.New.Object("spec").String("serviceAccountName") == "" && !w.isMirror(a.New)
}

func (w accountWaiter) Admit(a *request.Attributes) error {
	return w.complete(a, defaultAccountName, w.wait(a.Context, a.Key.Namespace))
}

// wait returns the default account, or nil after accountWait. It polls, because the cache has no
// notifications and waits are rare.
func (w accountWaiter) wait(ctx context.Context, namespace string) *serviceAccount {
	ctx, cancel := context.WithTimeout(ctx, accountWait)
	defer cancel()
	tick := time.NewTicker(accountRetry)
	defer tick.Stop()
	for {
		if account := w.lookup(namespace, defaultAccountName); account != nil {
			return account
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
