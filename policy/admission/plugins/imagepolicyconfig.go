package plugins

import (
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/config"
)

// An ImagePolicyConfig configures ImagePolicyWebhook.
type ImagePolicyConfig struct {
	// KubeConfigFile is the path of a kubeconfig with the backend's address and this server's
	// credentials.
	KubeConfigFile string
	// AllowTTL and DenyTTL limit how long responses are cached. 0 disables caching.
	AllowTTL, DenyTTL time.Duration
	// RetryBackoff is the delay before the first retry. Later delays are longer.
	RetryBackoff time.Duration
	// DefaultAllow admits Pods if the backend fails.
	DefaultAllow bool
}

// ParseImagePolicyConfig parses the required object imagePolicy. A duration of 0 means the default,
// and -1 means none.
func ParseImagePolicyConfig(t tree.Tree) (ImagePolicyConfig, error) {
	var c ImagePolicyConfig
	policy, ok := t["imagePolicy"].(tree.Tree)
	if !ok {
		return c, errors.New("imagePolicy: is required")
	}
	if err := config.CheckFields(t, "", "imagePolicy"); err != nil {
		return c, err
	}
	if err := config.CheckFields(policy, "imagePolicy.", "kubeConfigFile", "allowTTL", "denyTTL", "retryBackoff", "defaultAllow"); err != nil {
		return c, err
	}
	c.KubeConfigFile, c.DefaultAllow = policy.String("kubeConfigFile"), policy.Bool("defaultAllow")
	var faults []error
	if c.KubeConfigFile == "" {
		faults = append(faults, errors.New("imagePolicy.kubeConfigFile: is required"))
	}
	if _, isBool := policy["defaultAllow"].(bool); policy.Has("defaultAllow") && !isBool {
		faults = append(faults, errors.New("imagePolicy.defaultAllow: must be true or false"))
	}
	read := func(name string, unit, least, most, byDefault time.Duration) time.Duration {
		d, err := readPeriod(policy, name, unit, least, most, byDefault)
		if err != nil {
			faults = append(faults, fmt.Errorf("imagePolicy.%s: %w", name, err))
		}
		return d
	}
	c.AllowTTL = read("allowTTL", time.Second, time.Second, 30*time.Minute, 5*time.Minute)
	c.DenyTTL = read("denyTTL", time.Second, time.Second, 30*time.Minute, 30*time.Second)
	c.RetryBackoff = read("retryBackoff", time.Millisecond, time.Millisecond, 5*time.Minute, 500*time.Millisecond)
	return c, errors.Join(faults...)
}

func readPeriod(t tree.Tree, name string, unit, least, most, byDefault time.Duration) (time.Duration, error) {
	n, ok := t.Int(name)
	switch {
	case t.Has(name) && !ok:
		return 0, errors.New("must be a whole number")
	case n == 0:
		return byDefault, nil
	case n == -1:
		return 0, nil
	case n < int64(least/unit) || n > int64(most/unit):
		return 0, fmt.Errorf("valid value is between %v and %v, got %d times %v", least, most, n, unit)
	}
	return time.Duration(n) * unit, nil
}
