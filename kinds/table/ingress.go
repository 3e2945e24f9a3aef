package table

import (
	"cmp"
	"strings"
)

const maxHosts = 3

// showIngressHosts lists the hosts of the rules. It also shows a rule without a host, which accepts
// all hosts.
func showIngressHosts(r *row, _ string) string {
	rules, hosts, more := 0, []string{}, false
	for rule := range r.json.At("spec.rules").Items {
		rules++
		more = more || len(hosts) == maxHosts
		if host := rule.Field("host").Text(); host != "" && !more {
			hosts = append(hosts, host)
		}
	}
	if !more {
		return cmp.Or(strings.Join(hosts, ","), "*")
	}
	return joinAtMost(hosts, maxHosts, rules, ",")
}

// showIngressPorts shows 80, and also 443 if there are TLS certificates, because an Ingress has no
// port fields.
func showIngressPorts(r *row, _ string) string {
	if r.json.At("spec.tls").Count() > 0 {
		return "80, 443"
	}
	return "80"
}

func showClassParameters(r *row, _ string) string {
	p := r.json.At("spec.parameters")
	if !p.Exists() {
		return none
	}
	text := p.Field("kind").Text()
	if group := p.Field("apiGroup"); group.Exists() {
		text += "." + group.Text()
	}
	return text + "/" + p.Field("name").Text()
}

// showAddressParent shows a reference as "resource.group/namespace/name", such as
// "services/ns/name".
func showAddressParent(r *row, _ string) string {
	p := r.json.At("spec.parentRef")
	if !p.Exists() {
		return none
	}
	text := p.Field("resource").Text()
	if group := p.Field("group").Text(); group != "" {
		text += "." + group
	}
	text = strings.ToLower(text)
	if namespace := p.Field("namespace").Text(); namespace != "" {
		text += "/" + namespace
	}
	return text + "/" + p.Field("name").Text()
}
