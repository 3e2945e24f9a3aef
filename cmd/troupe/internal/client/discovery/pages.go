package discovery

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// PageSize is the usual number of objects in a page of a list.
const PageSize = 500

// maxPages limits the pages of a list, because a server might return continue tokens forever.
const maxPages = 100_000

// Pages lists a collection in pages of the given size and calls each for every page. Size 0 means a
// single page.
func (r *Resource) Pages(ctx context.Context, c *rest.Client, namespace string, query url.Values, accept string, size int64, each func(tree.Tree) error) error {
	q := url.Values{}
	maps.Copy(q, query)
	if size > 0 {
		q.Set("limit", fmt.Sprint(size))
	}
	for range maxPages {
		answer, err := c.Do(ctx, rest.Request{Method: "GET", Path: r.Path(namespace, ""), Query: q, Accept: accept})
		if err != nil {
			return err
		}
		t, err := answer.Tree()
		if err == nil {
			err = each(t)
		}
		if err != nil {
			return err
		}
		token := t.Object("metadata").String("continue")
		if token == "" {
			return nil
		}
		if token == q.Get("continue") {
			break
		}
		q.Set("continue", token)
		for _, name := range []string{"at", "resourceVersion", "resourceVersionMatch"} { // the token has the version
			q.Del(name)
		}
	}
	return fmt.Errorf("the list of %s does not end", r.FullName())
}

// Objects lists a collection. It adds the apiVersion and kind, which list items lack.
func (r *Resource) Objects(ctx context.Context, c *rest.Client, namespace string, query url.Values, size int64) (all []tree.Tree, err error) {
	err = r.Pages(ctx, c, namespace, query, "", size, func(t tree.Tree) error {
		for _, item := range t.Objects("items") {
			if !item.Has("kind") {
				item["apiVersion"], item["kind"] = r.APIVersion(), r.Kind
			}
			all = append(all, item)
		}
		return nil
	})
	return all, err
}
