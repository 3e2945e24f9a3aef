package plugins

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
)

// How long a new Pod waits for the default account of its namespace, and how often it looks. The controller
// usually takes a few milliseconds.
const (
	accountWait  = time.Second
	accountRetry = 10 * time.Millisecond
)

// An accountWaiter waits for the default account of a namespace, which a controller makes soon after the
// namespace. Pods that come before it would be refused otherwise.
type accountWaiter struct{ *serviceAccountPlugin }

// Handles implements request.Mutator. It finds the new Pods that serviceAccountPlugin has left without an account.
func (w accountWaiter) Handles(a *request.Attributes) bool {
	return a.New.Object("spec").String("serviceAccountName") == "" && !w.isMirror(a.New)
}

// Admit implements request.Mutator.
func (w accountWaiter) Admit(a *request.Attributes) error {
	return w.complete(a, defaultAccountName, w.wait(a.Context, a.Key.Namespace))
}

// wait returns the default account of a namespace when there is one; nil if it does not come. It polls,
// because the cache has nothing that could be waited for, and the wait is rare and short.
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
