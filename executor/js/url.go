package js

type searchParams struct{}
