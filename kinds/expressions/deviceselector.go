package expressions

import (
	"errors"
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
)

// The bounds of what a device says of itself, as large as its rules allow: the number of its attributes or capacities,
// and the bytes of a value, of a domain or a driver, and of a name.
const (
	maxDeviceEntries = 32
	maxDeviceValue   = 64
	maxDeviceDomain  = 63
	maxDeviceName    = 32
)

// maxSelectorCost is what an expression may cost for one device, since a scheduler evaluates it for very many.
const maxSelectorCost = 1000000

// ErrTooComplex says that an expression may cost more than it may for one device.
var ErrTooComplex = errors.New("too complex, exceeds cost limit")

// DeviceSelectors checks the expressions by which claims select devices. The only variable is device; schedulers evaluate
// them, this server never does.
type DeviceSelectors struct {
	env func() (*cel.Env, error)
}

// NewDeviceSelectors makes a DeviceSelectors whose faults have the names of a profile. shared says that devices tell
// whether they may be given out several times.
func NewDeviceSelectors(naming *meta.Naming, shared bool) *DeviceSelectors {
	return &DeviceSelectors{env: sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewEnv(naming, cel.Variable("device", deviceType(shared)), cel.Bindings())
	})}
}

// deviceType is the type of a device: driver, and maps of attributes and capacities by their domains and names.
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

// Check says what is wrong with an expression; ErrTooComplex if it only costs too much.
func (s *DeviceSelectors) Check(text string) error {
	env, err := s.env()
	if err != nil {
		return err
	}
	checked, err := env.Check(text)
	if err != nil {
		return err
	}
	if !checked.Returns(cel.Bool) && !checked.Returns(cel.Any) {
		return fmt.Errorf("must evaluate to bool or the unknown type, not %s", checked.Result())
	}
	if _, err := checked.Program(); err != nil {
		return err
	}
	if cost, err := checked.EstimateCost(); err != nil || cost > maxSelectorCost {
		return errors.Join(ErrTooComplex, err)
	}
	return nil
}
