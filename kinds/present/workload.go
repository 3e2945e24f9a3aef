package present

import (
	"slices"
	"strconv"
	"strings"
)

func showReady(b []byte, r *row, _ string) []byte {
	b = append(b, '"')
	b = strconv.AppendInt(b, r.json.at("status.readyReplicas").number(), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, r.json.at("spec.replicas").number(), 10)
	return append(b, '"')
}

func showContainers(b []byte, r *row, _ string) []byte {
	return appendOr(b, strings.Join(r.json.at("spec.template.spec.containers").names(), ","), "")
}

func showImages(b []byte, r *row, _ string) []byte {
	var images []string
	r.json.at("spec.template.spec.containers").items(func(c value) bool {
		images = append(images, c.field("image").text())
		return true
	})
	return appendOr(b, strings.Join(images, ","), "")
}

// showSelector writes spec.selector, a map of labels or a structured selector, in the
// form of the labelSelector parameter.
func showSelector(b []byte, r *row, _ string) []byte {
	s := r.json.at("spec.selector")
	labels, expressions := s.field("matchLabels"), s.field("matchExpressions")
	if labels == nil && expressions == nil {
		return appendOr(b, strings.Join(s.pairs(), ","), none)
	}
	parts := labels.pairs()
	expressions.items(func(e value) bool {
		parts = append(parts, expression(e))
		return true
	})
	slices.Sort(parts)
	return appendOr(b, strings.Join(parts, ","), none)
}

func expression(e value) string {
	key, values := e.field("key").text(), e.field("values").names()
	slices.Sort(values)
	set := " (" + strings.Join(values, ",") + ")"
	switch e.field("operator").text() {
	case "In":
		return key + " in" + set
	case "NotIn":
		return key + " notin" + set
	case "DoesNotExist":
		return "!" + key
	}
	return key
}

func showServicePorts(b []byte, r *row, _ string) []byte {
	var ports []string
	r.json.at("spec.ports").items(func(p value) bool {
		s := strconv.FormatInt(p.field("port").number(), 10)
		if n := p.field("nodePort").number(); n > 0 {
			s += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, s+"/"+p.field("protocol").text())
		return true
	})
	return appendOr(b, strings.Join(ports, ","), none)
}

func showServiceExternalIPs(b []byte, r *row, _ string) []byte {
	kind := r.json.at("spec.type").text()
	if kind == "ExternalName" {
		return appendOr(b, r.json.at("spec.externalName").text(), none)
	}
	var ips []string
	if kind == "LoadBalancer" {
		r.json.at("status.loadBalancer.ingress").items(func(i value) bool {
			ip := i.field("ip").text()
			if ip == "" {
				ip = i.field("hostname").text()
			}
			ips = append(ips, ip)
			return true
		})
	}
	ips = append(ips, r.json.at("spec.externalIPs").names()...)
	if len(ips) == 0 && kind == "LoadBalancer" {
		return appendText(b, "<pending>")
	}
	return appendOr(b, strings.Join(ips, ","), none)
}
