package autoscaler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

const account = "horizontal-pod-autoscaler"

const defaultWindow = time.Minute

type source struct {
	servers apiservices.Servers
	naming  *meta.Naming
}

// An item is an entry in a list returned by one of the three metrics API groups. Each group sets
// only some of the fields.
type item struct {
	Metadata        struct{ Name string }
	DescribedObject struct{ Name string }
	Timestamp       time.Time
	Window          string
	WindowSeconds   *int64
	Value           string
	Containers      []struct {
		Name  string
		Usage map[string]string
	}
}

func (i *item) length() time.Duration {
	if d, err := time.ParseDuration(i.Window); err == nil {
		return d
	}
	if i.WindowSeconds != nil {
		return seconds(*i.WindowSeconds)
	}
	return defaultWindow
}

func (i *item) sampleOf(value int64) sample { return sample{value, i.Timestamp, i.length()} }

// api is a metrics API. name appears in errors, group is the prefix of the API group, and versions
// are ordered newest first.
type api struct {
	name, group string
	versions    []string
}

var (
	resourceAPI = api{"resource", "metrics", []string{"v1beta1"}}
	customAPI   = api{"custom", "custom.metrics", []string{"v1beta2", "v1beta1"}}
	externalAPI = api{"external", "external.metrics", []string{"v1beta1"}}
)

// resource returns the usage of a resource by each Pod, or by the named container of each Pod. It
// omits Pods with missing values.
func (s *source) resource(ctx context.Context, namespace, resource, container, selector string) (samples, error) {
	items, err := s.list(ctx, resourceAPI, "/namespaces/"+namespace+"/pods", url.Values{"labelSelector": {selector}})
	if err != nil {
		return nil, err
	}
	m := samples{}
	for _, i := range items {
		value, whole, err := i.used(resource, container)
		if err != nil {
			return nil, fmt.Errorf("metrics of Pod %s: %w", i.Metadata.Name, err)
		}
		if whole {
			m[i.Metadata.Name] = i.sampleOf(value)
		}
	}
	return m, nil
}

// used returns the usage of a resource by a Pod or one of its containers. whole is false if a value
// is missing.
func (i *item) used(resource, container string) (sum int64, whole bool, err error) {
	for _, c := range i.Containers {
		if container != "" && c.Name != container {
			continue
		}
		used, ok := c.Usage[resource]
		if !ok {
			return 0, false, nil
		}
		n, err := thousandths(used)
		if err != nil {
			return 0, false, err
		}
		sum, whole = sum+n, true
	}
	return sum, whole, nil
}

func (s *source) pods(ctx context.Context, namespace, metric, metricSelector, selector string) (samples, error) {
	items, err := s.list(ctx, customAPI, "/namespaces/"+namespace+"/pods/*/"+metric, url.Values{"labelSelector": {selector}, "metricLabelSelector": {metricSelector}})
	if err != nil {
		return nil, err
	}
	m := samples{}
	for _, i := range items {
		value, err := thousandths(i.Value)
		if err != nil {
			return nil, fmt.Errorf("metrics of Pod %s: %w", i.DescribedObject.Name, err)
		}
		m[i.DescribedObject.Name] = i.sampleOf(value)
	}
	return m, nil
}

// object returns the value of a custom metric for one object. resource includes the group, as in
// "ingresses.networking.k8s.io". "namespaces" refers to the autoscaler's own Namespace.
func (s *source) object(ctx context.Context, namespace, resource, name, metric, metricSelector string) (int64, error) {
	path := "/namespaces/" + namespace + "/" + resource + "/" + name + "/" + metric
	if resource == "namespaces" {
		path = "/namespaces/" + namespace + "/metrics/" + metric
	}
	items, err := s.list(ctx, customAPI, path, url.Values{"metricLabelSelector": {metricSelector}})
	if err != nil {
		return 0, err
	}
	return thousandths(items[0].Value)
}

func (s *source) external(ctx context.Context, namespace, metric, metricSelector string) (sum int64, err error) {
	items, err := s.list(ctx, externalAPI, "/namespaces/"+namespace+"/"+metric, url.Values{"labelSelector": {metricSelector}})
	if err != nil {
		return 0, err
	}
	for _, i := range items {
		value, err := thousandths(i.Value)
		if err != nil {
			return 0, err
		}
		sum += value
	}
	return sum, nil
}

func (s *source) list(ctx context.Context, of api, path string, query url.Values) ([]item, error) {
	failed := func(err error) error {
		return fmt.Errorf("unable to fetch metrics from %s metrics API: %w", of.name, err)
	}
	for name, values := range query {
		if values[0] == "" {
			delete(query, name)
		}
	}
	for _, version := range of.versions {
		code, body, err := s.servers.Do(ctx, apiservices.Request{
			Group: s.naming.Group(of.group), Version: version, Controller: account, Method: http.MethodGet, Path: path, Query: query.Encode(),
		})
		switch {
		case err != nil:
			return nil, failed(err)
		case code == http.StatusNotFound && version != of.versions[len(of.versions)-1]:
			continue // an older version may be served
		case code != http.StatusOK:
			return nil, failed(refusal(code, body))
		}
		var list struct{ Items []item }
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, failed(err)
		}
		if len(list.Items) > 0 {
			return list.Items, nil
		}
		return nil, fmt.Errorf("no metrics returned from %s metrics API", of.name)
	}
	return nil, nil // unreachable: versions is not empty
}

func refusal(code int, body []byte) error {
	var status tree.Tree
	if json.Unmarshal(body, &status) != nil || status.String("message") == "" {
		if code == http.StatusNotFound {
			return errors.New("the server could not find the requested resource")
		}
		return fmt.Errorf("the server returned status %d", code)
	}
	return errors.New(cmp.Or(status.String("message"), http.StatusText(code)))
}
