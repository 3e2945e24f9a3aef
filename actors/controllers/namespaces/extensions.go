package namespaces

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/kinds/meta"
)

const namespaceController = "namespace-controller"

// extensionContent represents the objects of one extension API resource in a namespace.
type extensionContent struct {
	apiservices.Resource
	servers   apiservices.Servers
	namespace string
}

// deleteExtensionContent deletes the objects in a namespace that extension API servers store. If
// discovery of a group version has failed, the namespace must not be removed yet, because it may
// still contain objects of that version.
func (c *Controller) deleteExtensionContent(ctx context.Context, namespace string, left *remainingContent) {
	if c.extensions == nil {
		return
	}
	resources, unknown := c.extensions.Resources()
	left.undiscovered = unknown
	for _, r := range resources {
		if !r.Namespaced || !slices.Contains(r.Verbs, "delete") {
			continue
		}
		content := extensionContent{r, c.extensions, namespace}
		objects, err := content.delete(ctx)
		if err == nil && len(objects) > 0 && !hasFinalizers(objects) {
			err = unexpectedItems(namespace, r.Group, r.Version, r.Name)
		}
		if err != nil {
			left.failures = append(left.failures, fmt.Errorf("%s: %w", meta.GroupResource{Group: r.Group, Resource: r.Name}, err))
		}
		left.add(meta.GroupResource{Group: r.Group, Resource: r.Name}, objects)
	}
}

// delete deletes the objects and returns the remaining ones. It sends a single deletecollection
// request if the resource supports that verb. If the resource does not support list, delete returns
// no objects.
func (c *extensionContent) delete(ctx context.Context) (left []*meta.Object, err error) {
	lists := slices.Contains(c.Verbs, "list")
	if slices.Contains(c.Verbs, "deletecollection") {
		err = c.deleteAt(ctx, "")
	} else if lists {
		err = c.deleteEach(ctx)
	}
	if err != nil || !lists {
		return nil, err
	}
	return c.list(ctx)
}

func (c *extensionContent) deleteEach(ctx context.Context) error {
	objects, err := c.list(ctx)
	for _, o := range objects {
		if err := c.deleteAt(ctx, "/"+o.Key.Name); err != nil {
			return err
		}
	}
	return err
}

func (c *extensionContent) deleteAt(ctx context.Context, path string) error {
	_, err := c.do(ctx, http.MethodDelete, path, []byte(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`))
	return err
}

// list returns the objects. Only their names and finalizers are set.
func (c *extensionContent) list(ctx context.Context) ([]*meta.Object, error) {
	body, err := c.do(ctx, http.MethodGet, "", nil)
	if err != nil || body == nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name       string
				Finalizers []string
			}
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("cannot read its list: %w", err)
	}
	var objects []*meta.Object
	for _, item := range list.Items {
		objects = append(objects, &meta.Object{
			Key: meta.Key{Namespace: c.namespace, Name: item.Metadata.Name}, Meta: meta.ObjectMeta{Finalizers: item.Metadata.Finalizers},
		})
	}
	return objects, nil
}

// do sends a request. For status 404 or 405, it returns a nil body and no error.
func (c *extensionContent) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	code, answer, err := c.servers.Do(ctx, apiservices.Request{
		Group: c.Group, Version: c.Version, Controller: namespaceController,
		Method: method, Path: "/namespaces/" + c.namespace + "/" + c.Name + path, Body: body,
	})
	switch {
	case err != nil:
		return nil, err
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		return nil, nil
	case code >= http.StatusBadRequest:
		return nil, fmt.Errorf("the server returned status %d", code)
	}
	return answer, nil
}
