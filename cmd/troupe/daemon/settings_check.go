package daemon

import (
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Validate returns the errors of all invalid settings, with their names. It reads no files.
func (c Config) Validate() error {
	var f faults
	c.checkDeclared(&f)
	_, err := meta.ParseNaming(c.Naming)
	f.checkError("naming", err)
	c.Etcd.validate(&f, c)
	c.Serving.validate(&f)
	c.Controllers.validate(&f)
	c.Services.validate(&f)
	_, err = c.Nodes.ranges()
	f.checkError("cluster-cidr", err)
	f.check(c.Autoscaling.Tolerance < 1, "horizontal-pod-autoscaler-tolerance", "must be below 1")
	c.TLS.validate(&f)
	c.Authentication.validate(&f)
	c.ServiceAccounts.validate(&f)
	c.CertificateSigning.validate(&f)
	c.Authorization.validate(&f)
	c.Admission.validate(&f)
	_, err = parseServiceAddresses(c.Aggregation.ServiceResolver)
	f.checkError("aggregator-service-resolver", err)
	c.Audit.Log.Batch.validate(&f, "audit-log-")
	c.Audit.Log.Truncate.validate(&f, "audit-log-")
	c.Audit.Webhook.Batch.validate(&f, "audit-webhook-")
	c.Audit.Webhook.Truncate.validate(&f, "audit-webhook-")
	c.validateFeatures(&f)
	return errors.Join(f...)
}

func (s Serving) validate(f *faults) {
	f.check(net.ParseIP(s.BindAddress) != nil, "bind-address", fmt.Sprintf("%q is not an IP address", s.BindAddress))
	f.check(s.AdvertiseAddress == "" || net.ParseIP(s.AdvertiseAddress) != nil, "advertise-address", fmt.Sprintf("%q is not an IP address", s.AdvertiseAddress))
	f.check(s.ExternalHostname == "" || isHostName(s.ExternalHostname), "external-hostname", fmt.Sprintf("%q is not a host name", s.ExternalHostname))
	f.check(!s.FaultInjection || net.ParseIP(s.BindAddress).IsLoopback(), "fault-injection", "needs a loopback bind-address, so that no other machine depends on a server that fails on purpose")
	f.check(s.MaxBodiesBytes >= s.MaxBodyBytes, "max-bodies-bytes", "must be at least max-body-bytes")
	_, err := parseOrigins(s.CORSAllowedOrigins)
	f.checkError("cors-allowed-origins", err)
}

func (s Services) validate(f *faults) {
	_, err := allocation.ParseRanges(s.ClusterIPRange)
	f.checkError("service-cluster-ip-range", err)
	_, err = allocation.ParsePortRange(s.NodePortRange)
	f.checkError("service-node-port-range", err)
}

type faults []error

func (f *faults) check(ok bool, name, fault string) {
	if !ok {
		*f = append(*f, fmt.Errorf("%s: %s", name, fault))
	}
}

func (f *faults) checkError(name string, err error) {
	if err != nil {
		f.check(false, name, err.Error())
	}
}

func (c *Config) checkDeclared(f *faults) {
	fields := c.fields()
	given := func(name string) bool {
		v := fields[name]
		return !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
	}
	for _, d := range declarations() {
		name := d["name"]
		field, ok := fields[name]
		if !ok {
			continue
		}
		f.check(d["required"] == "" || given(name), name, "must not be empty")
		if other := d["with"]; other != "" {
			f.check(given(name) == given(other), name, "requires "+other)
		}
		if other := d["needs"]; other != "" {
			f.check(given(other) || !given(name), name, "needs "+other)
		}
		if values := d["values"]; values != "" {
			items, isList := field.Interface().([]string)
			if !isList {
				items = []string{field.String()}
			}
			for _, item := range items {
				f.check(slices.Contains(strings.Split(values, ", "), item), name, fmt.Sprintf("%q: must be one of %s", item, values))
			}
		}
		d.checkBounds(f, field)
	}
}

// checkBounds checks the minimum and maximum of a number. Durations are in nanoseconds.
func (d declaration) checkBounds(f *faults, field reflect.Value) {
	var value float64
	switch {
	case field.CanInt():
		value = float64(field.Int())
	case field.CanFloat():
		value = field.Float()
	default:
		return
	}
	bound := func(attribute string, unbounded float64) float64 {
		if b, err := strconv.ParseFloat(d[attribute], 64); err == nil {
			return b
		}
		return unbounded
	}
	f.check(value >= bound("min", math.Inf(-1)), d["name"], fmt.Sprintf("%v is less than %s", field, d["min"]))
	f.check(value <= bound("max", math.Inf(1)), d["name"], fmt.Sprintf("%v is more than %s", field, d["max"]))
	f.check(value > bound("above", math.Inf(-1)), d["name"], fmt.Sprintf("%v is not above %s", field, d["above"]))
}
