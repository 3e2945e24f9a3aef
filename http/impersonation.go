package http

// impersonate makes the user of the request the one as whom it asks to act. Who has asked stays
// in the audit; later filters do not know.
func (s *Server) impersonate(x *requestContext) error {
	if !x.headerFlags.Impersonation {
		return nil
	}
	user, err := s.impersonator.Impersonate(x.user, x.identityHeaders())
	if err != nil {
		return err
	}
	if user != nil {
		x.user = user
	}
	return nil
}
