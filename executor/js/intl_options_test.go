package js

import "testing"

// TestOptionsOfNumbers holds what node shows of a format of numbers.
func TestOptionsOfNumbers(t *testing.T) {
	sameAsNode(t, [][2]string{
		{`return new Intl.NumberFormat('en-US').resolvedOptions()`,
			`{"locale":"en-US","numberingSystem":"latn","style":"decimal","minimumIntegerDigits":1,"minimumFractionDigits":0,"maximumFractionDigits":3,"useGrouping":"auto","notation":"standard","signDisplay":"auto","roundingMode":"halfExpand","roundingIncrement":1,"trailingZeroDisplay":"auto","roundingPriority":"auto"}`},
		{`return new Intl.NumberFormat('de-DE',{style:'currency',currency:'EUR'}).resolvedOptions()`,
			`{"locale":"de-DE","numberingSystem":"latn","style":"currency","currency":"EUR","currencyDisplay":"symbol","currencySign":"standard","minimumIntegerDigits":1,"minimumFractionDigits":2,"maximumFractionDigits":2,"useGrouping":"auto","notation":"standard","signDisplay":"auto","roundingMode":"halfExpand","roundingIncrement":1,"trailingZeroDisplay":"auto","roundingPriority":"auto"}`},
	})
}
