package daemon

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/policy/conversion"
)

// newConversionWebhooks makes the conversion webhooks of definitions, for the store. They can be asked as soon as Services
// can be found (webhookPlugins).
func (d *Daemon) newConversionWebhooks() {
	d.conversionMetrics = conversion.NewMetrics(func(definition string) bool { return d.kinds.Definition(definition) != nil })
	d.conversionWebhooks = conversion.New(d.naming, d.conversionMetrics)
	context.AfterFunc(d.background.ctx, d.conversionWebhooks.Close)
}

// conversionGracePeriod is how long a daemon that stops still lets conversion webhooks answer: requests that wait for one that
// never does must not hold it up.
const conversionGracePeriod = 2 * time.Second

// limitConversions ends conversions that are under way, a little later.
func (d *Daemon) limitConversions() {
	if d.conversionWebhooks != nil {
		time.AfterFunc(conversionGracePeriod, d.conversionWebhooks.Close)
	}
}
