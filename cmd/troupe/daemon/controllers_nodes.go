package daemon

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/nodes"
)

// Nodes configures the node controllers.
type Nodes struct {
	MonitorPeriod      Duration `flag:"node-monitor-period"`       // between two checks of all nodes
	MonitorGracePeriod Duration `flag:"node-monitor-grace-period"` // how long a node may be silent
	StartupGracePeriod Duration `flag:"node-startup-grace-period"` // how long a new node may be silent

	AllocateCIDRs    bool   `flag:"allocate-node-cidrs"` // assign ranges of Pod addresses to nodes
	ClusterCIDR      string `flag:"cluster-cidr"`        // from these ranges; a comma separates IPv4 and IPv6
	CIDRMaskSize     int    `flag:"node-cidr-mask-size"` // 0 means 24 for IPv4 and 64 for IPv6
	CIDRMaskSizeIPv4 int    `flag:"node-cidr-mask-size-ipv4"`
	CIDRMaskSizeIPv6 int    `flag:"node-cidr-mask-size-ipv6"`

	TerminatedPodThreshold int `flag:"terminated-pod-gc-threshold"` // finished Pods to keep; 0 or less keeps all
}

// ranges parses the cluster CIDRs. It returns nil unless AllocateCIDRs is set.
func (n Nodes) ranges() ([]nodes.NodeRange, error) {
	if !n.AllocateCIDRs {
		return nil, nil
	}
	if n.ClusterCIDR == "" {
		return nil, errors.New("is required with allocate-node-cidrs")
	}
	var all []nodes.NodeRange
	for text := range strings.SplitSeq(n.ClusterCIDR, ",") {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q is not a CIDR such as 10.244.0.0/16", text)
		}
		all = append(all, nodes.NodeRange{Range: p.Masked(), Bits: n.maskSize(p.Addr().Is6())})
	}
	if len(all) > 2 || len(all) == 2 && all[0].Range.Addr().Is6() == all[1].Range.Addr().Is6() {
		return nil, errors.New("at most one range of each IP family")
	}
	for _, r := range all {
		if r.Bits < r.Range.Bits() || r.Bits > r.Range.Addr().BitLen() {
			return nil, fmt.Errorf("a subnet of %s cannot have a prefix of %d bits", r.Range, r.Bits)
		}
	}
	return all, nil
}

// maskSize returns the mask size of a Node's Pod CIDR for one IP family.
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

// newIPAM returns the controller that assigns Pod CIDRs to Nodes. It excludes the Service CIDRs.
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
