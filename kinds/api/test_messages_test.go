package api_test

// Messages that tests of several groups expect.
const (
	NoIP       = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	NoCIDR     = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
	OutOfPorts = "must be between 1 and 65535, inclusive"
	Loopback   = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
)
