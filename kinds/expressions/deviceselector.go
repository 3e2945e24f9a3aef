package expressions

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Limits on device attributes, as in the validation of devices. maxDeviceEntries is the maximum
// number of attributes and of capacities. The others are lengths in bytes.
const (
	maxDeviceEntries = 32
	maxDeviceValue   = 64
	maxDeviceDomain  = 63
	maxDeviceName    = 32
)

// maxSelectorCost limits the cost of an expression per device, because a scheduler evaluates it for
// many devices.
const maxSelectorCost = 1000000

// ErrTooComplex reports an expression whose estimated cost exceeds the limit per device.
var ErrTooComplex = errors.New("too complex, exceeds cost limit")

// DeviceSelectors checks the CEL device selectors in resource claims, whose only variable is
// device. Schedulers evaluate the selectors.
type DeviceSelectors struct {
	env func() (*cel.Env, error)
}

// NewDeviceSelectors returns a DeviceSelectors for a naming profile, which determines the names in
// errors. If shared is true, expressions may use the device field allowMultipleAllocations.
func NewDeviceSelectors(naming *meta.Naming, shared bool) *DeviceSelectors {
	return &DeviceSelectors{env: sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewEnv(naming, cel.Variable("device", deviceType(shared)), cel.Bindings())
	})}
}

// deviceType returns the type of the variable device. Its attributes and capacities are maps by
// domain and then by name.
func deviceType(shared bool) *cel.Type {
	domain, name := cel.Bounded(cel.String, maxDeviceDomain), cel.Bounded(cel.String, maxDeviceName)
	byName := func(value *cel.Type) *cel.Type {
		return cel.BoundedMapOf(domain, cel.BoundedMapOf(name, value, maxDeviceEntries), maxDeviceEntries)
	}
	fields := map[string]*cel.Type{
		"driver": domain, "attributes": byName(cel.Bounded(cel.Any, maxDeviceValue)), "capacity": byName(cel.Quantity),
	}
	if shared {
		fields["allowMultipleAllocations"] = cel.Bounded(cel.Bool, 1)
	}
	return cel.ObjectOf("platform.DRADevice", fields)
}

// Check returns the error in a selector, or nil. It returns ErrTooComplex for a valid selector
// whose cost is too high.
func (s *DeviceSelectors) Check(text string) error {
	return s.check(text, "bool or the unknown type", cel.Bool)
}

// CheckAttribute is like Check, for the expression of a derived attribute.
func (s *DeviceSelectors) CheckAttribute(text string) error {
	return s.check(text, "a primitive scalar (string, integer, boolean, semver)", cel.String, cel.Int, cel.Bool)
}

func (s *DeviceSelectors) check(text, results string, types ...*cel.Type) error {
	env, err := s.env()
	if err != nil {
		return err
	}
	checked, err := env.Check(text)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(append(types, cel.Any), checked.Returns) {
		return fmt.Errorf("must evaluate to %s, not %s", results, checked.Result())
	}
	if _, err := checked.Program(); err != nil {
		return err
	}
	if cost, err := checked.EstimateCost(); err != nil || cost > maxSelectorCost {
		return errors.Join(ErrTooComplex, err)
	}
	return nil
}
