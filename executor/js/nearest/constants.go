package nearest

// A test computes all constants here from series with many digits.

// The natural logarithm of 2 in three parts. The first has so few digits that
// its product with any exponent is exact.
const (
	ln2Top    = 0x1.62e42feep-01
	ln2Middle = 0x1.a39ef35793c76p-33
	ln2Rest   = 0x1.cc01f97b57a08p-87
)

var (
	perLn2  = pair{0x1.71547652b82fep+00, 0x1.777d0ffda0d24p-56} // 1 by ln 2
	perLn10 = pair{0x1.bcb7b1526e50ep-02, 0x1.95355baaafad3p-57} // 1 by ln 10
	twoLn2  = pair{0x1.62e42fefa39efp+00, 0x1.abc9e3b39803fp-55}
	halfPi  = pair{0x1.921fb54442d18p+00, 0x1.1a62633145c07p-54}
)

// exps are the powers of e for exponents from -6/16 to 6/16.
var exps = [13]pair{
	{0x1.5fe4615e98e8fp-01, -0x1.5613923fd9eeep-55},
	{0x1.769652df22f7ep-01, 0x1.3445f7544e0efp-57},
	{0x1.8ebef9eac820bp-01, -0x1.797d4686c5393p-57},
	{0x1.a876812c0877cp-01, -0x1.fd36226fadd44p-56},
	{0x1.c3d6a24ed8222p-01, -0x1.e1e0a76cb0685p-55},
	{0x1.e0fabfbc702a4p-01, -0x1.8d0e700fcfb65p-56},
	{h: 1},
	{0x1.1082b577d34edp+00, 0x1.f56c680678897p-54},
	{0x1.2216045b6f5cdp+00, -0x1.8c4a5df1ec7e5p-58},
	{0x1.34cb8170b5835p+00, 0x1.6a7062465be33p-55},
	{0x1.48b5e3c3e8186p+00, 0x1.9d9ef0eda6eabp-54},
	{0x1.5de9176045ff5p+00, 0x1.da89923298baap-55},
	{0x1.747a513dbef6ap+00, 0x1.88d1e2d966c25p-54},
}

// inverses are 1/1, 1/(1*2), 1/(1*2*3) ..., the series of e^t - 1 divided by t.
var inverses = [15]pair{
	{h: 1},
	{h: 0.5},
	{0x1.5555555555555p-03, 0x1.5555555555555p-57},
	{0x1.5555555555555p-05, 0x1.5555555555555p-59},
	{0x1.1111111111111p-07, 0x1.1111111111111p-63},
	{0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
	{0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
	{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
	{0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
	{0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
	{0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
	{0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
	{0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
	{0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
	{0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
}

// sines and cosines are the series of sin t divided by t, and of cos t, by t*t.
var (
	sines = [8]pair{
		{h: 1},
		{-0x1.5555555555555p-03, -0x1.5555555555555p-57},
		{0x1.1111111111111p-07, 0x1.1111111111111p-63},
		{-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
		{0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
		{-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80},
		{0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
		{-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97},
	}
	cosines = [8]pair{
		{h: 1},
		{h: -0.5},
		{0x1.5555555555555p-05, 0x1.5555555555555p-59},
		{-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
		{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
		{-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
		{0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
		{-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92},
	}
)

// circle has the sine and the cosine of the angles from 0 to 13/16.
var circle = [14]struct{ sin, cos pair }{
	{pair{h: 0}, pair{h: 1}},
	{pair{0x1.ffaaaeeed4edbp-05, -0x1.2d16d32684b69p-59}, pair{0x1.ff0015549f4d3p-01, 0x1.328387b99426fp-55}},
	{pair{0x1.feaaeee86ee36p-04, -0x1.afcb2bcc6f03bp-59}, pair{0x1.fc015527d5bd3p-01, 0x1.b68f35094efb8p-55}},
	{pair{0x1.7dc102fbaf2b5p-03, 0x1.5ab50e23c97c3p-59}, pair{0x1.f706bdf9ece1cp-01, -0x1.698c80c36dcb4p-55}},
	{pair{0x1.faaeed4f31577p-03, -0x1.15d88508e32b8p-57}, pair{0x1.f01549f7deea1p-01, 0x1.d3c1e99e5cafdp-55}},
	{pair{0x1.3ad129769d3d8p-02, 0x1.03d550487839ap-63}, pair{0x1.e733ea0193d4p-01, -0x1.6428b3546ce13p-55}},
	{pair{0x1.7710255764214p-02, -0x1.6ead7314bb6cep-57}, pair{0x1.dc6b7eb995912p-01, 0x1.4b364776dcd35p-58}},
	{pair{0x1.b1d8305321617p-02, -0x1.ae242cb99f519p-56}, pair{0x1.cfc6cfa52ad9fp-01, 0x1.8b5b5508f2a0dp-55}},
	{pair{0x1.eaee8744b05fp-02, -0x1.789b43c9b027dp-58}, pair{0x1.c1528065b7d5p-01, -0x1.892111312e828p-55}},
	{pair{0x1.110d0c4b69c3bp-01, 0x1.d918998809981p-55}, pair{0x1.b11d04162a4c6p-01, 0x1.1dd561efbc0c2p-56}},
	{pair{0x1.2b91dea88421ep-01, -0x1.fa371db216abp-55}, pair{0x1.9f368ed912f85p-01, -0x1.1d200c5791606p-55}},
	{pair{0x1.44eb381cf386bp-01, -0x1.3ed6c1e6a5505p-55}, pair{0x1.8bb105a5dc9p-01, 0x1.863e03e9474c1p-55}},
	{pair{0x1.5cffc16bf8f0dp-01, 0x1.96cb370eb578ap-55}, pair{0x1.769fec655211fp-01, -0x1.827d5cf8c68c5p-57}},
	{pair{0x1.73b7680dea578p-01, -0x1.2248306dc12a2p-56}, pair{0x1.6018526f563dfp-01, 0x1.46ca5e0e432dp-55}},
}
