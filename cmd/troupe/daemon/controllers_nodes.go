package daemon

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/actors/controllers/nodes"
)

// Nodes is how the controllers of nodes treat them and the Pods on them.
type Nodes struct {
	MonitorPeriod      Duration `json:"monitorPeriod"`      // between two looks at all nodes
	MonitorGracePeriod Duration `json:"monitorGracePeriod"` // how long a node may be silent
	StartupGracePeriod Duration `json:"startupGracePeriod"` // how long a new one may be

	AllocateCIDRs    bool   `json:"allocateCIDRs"` // nodes get ranges of Pod addresses
	ClusterCIDR      string `json:"clusterCIDR"`   // which these are parts of; or two, of both families, with a comma
	CIDRMaskSize     int    `json:"cidrMaskSize"`  // of a part; 0: 24 and 64
	CIDRMaskSizeIPv4 int    `json:"cidrMaskSizeIPv4"`
	CIDRMaskSizeIPv6 int    `json:"cidrMaskSizeIPv6"`

	TerminatedPodThreshold int `json:"terminatedPodThreshold"` // how many Pods that have ended are kept; 0 or less: all
}

// defaultNodes are the defaults of kube-controller-manager, whose controllers the section is about.
func defaultNodes() Nodes {
	return Nodes{
		MonitorPeriod: Duration(5 * time.Second), MonitorGracePeriod: Duration(50 * time.Second), StartupGracePeriod: Duration(time.Minute),
		TerminatedPodThreshold: 12500,
	}
}

// flags binds the section.
// The masks are lengths of prefixes in bits; 0 means the default of the family.
func (n *Nodes) flags(f *pflag.FlagSet) {
	f.Var(&n.MonitorPeriod, "node-monitor-period", "Time between two looks of the node-lifecycle-controller at all nodes.")
	f.Var(&n.MonitorGracePeriod, "node-monitor-grace-period", "How long a node may be silent before its state is unknown.")
	f.Var(&n.StartupGracePeriod, "node-startup-grace-period", "How long a node may be silent that has just come.")
	f.BoolVar(&n.AllocateCIDRs, "allocate-node-cidrs", n.AllocateCIDRs, "Give nodes parts of --cluster-cidr for the addresses of their Pods.")
	f.StringVar(&n.ClusterCIDR, "cluster-cidr", n.ClusterCIDR, "Range of the addresses of Pods; or two, an IPv4 and an IPv6 one, with a comma.")
	f.IntVar(&n.CIDRMaskSize, "node-cidr-mask-size", n.CIDRMaskSize, "Length of the prefix of a node's part (default 24 for IPv4, 64 for IPv6).")
	f.IntVar(&n.CIDRMaskSizeIPv4, "node-cidr-mask-size-ipv4", n.CIDRMaskSizeIPv4, "The same for IPv4, with two ranges.")
	f.IntVar(&n.CIDRMaskSizeIPv6, "node-cidr-mask-size-ipv6", n.CIDRMaskSizeIPv6, "The same for IPv6, with two ranges.")
	f.IntVar(&n.TerminatedPodThreshold, "terminated-pod-gc-threshold", n.TerminatedPodThreshold, "How many Pods that have ended are kept; 0 or less for all.")
}

// validate parses the ranges as the controller will, so that a fault ends the start and not the controller.
func (n Nodes) validate(f *faults) {
	f.positive("nodes.monitorPeriod", n.MonitorPeriod)
	f.positive("nodes.monitorGracePeriod", n.MonitorGracePeriod)
	f.positive("nodes.startupGracePeriod", n.StartupGracePeriod)
	if _, err := n.ranges(); err != nil {
		f.check(false, "nodes.clusterCIDR", err.Error())
	}
}

// ranges are what nodes get parts of; none if they get no parts.
func (n Nodes) ranges() ([]nodes.NodeRange, error) {
	if !n.AllocateCIDRs {
		return nil, nil
	}
	if n.ClusterCIDR == "" {
		return nil, errors.New("must be given if nodes get ranges of addresses")
	}
	var all []nodes.NodeRange
	for text := range strings.SplitSeq(n.ClusterCIDR, ",") {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q is no range of addresses such as 10.244.0.0/16", text)
		}
		all = append(all, nodes.NodeRange{Range: p.Masked(), Bits: n.maskSize(p.Addr().Is6())})
	}
	if len(all) > 2 || len(all) == 2 && all[0].Range.Addr().Is6() == all[1].Range.Addr().Is6() {
		return nil, errors.New("at most one range of each IP family")
	}
	for _, r := range all {
		if r.Bits < r.Range.Bits() || r.Bits > r.Range.Addr().BitLen() {
			return nil, fmt.Errorf("a part of %s cannot have a prefix of %d bits", r.Range, r.Bits)
		}
	}
	return all, nil
}

// maskSize is the length of the prefix of a part of a family.
func (n Nodes) maskSize(v6 bool) int {
	of, usual := n.CIDRMaskSizeIPv4, 24
	if v6 {
		of, usual = n.CIDRMaskSizeIPv6, 64
	}
	for _, size := range []int{of, n.CIDRMaskSize} {
		if size != 0 {
			return size
		}
	}
	return usual
}

// newIPAM makes the controller that gives nodes their ranges. The addresses of Services are not among them.
func (c *clusterControllers) newIPAM() controller {
	ranges, err := c.config.Nodes.ranges()
	if err != nil {
		panic(err) // the configuration is valid
	}
	var avoid []netip.Prefix
	for _, text := range c.storage.services.Ranges() {
		avoid = append(avoid, netip.MustParsePrefix(text))
	}
	return nodes.NewIPAM(c.env, ranges, avoid)
}
