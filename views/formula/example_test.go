package formula_test

import (
	"fmt"

	"marginlab/views/formula"
)

func ExampleMathML() {
	m, err := formula.MathML(`\frac12\|\mathbf{w}\|^2`, false)
	fmt.Println(m, err)
	_, err = formula.MathML(`w^\dagr x`, false)
	fmt.Println(err)
	// Output:
	// <math><mfrac><mn>1</mn><mn>2</mn></mfrac><mo stretchy="false" form="prefix">‖</mo><mi>𝐰</mi><msup><mo stretchy="false" form="postfix">‖</mo><mn>2</mn></msup></math> <nil>
	// formula: \dagr at 2 is not known; with the same letter begin \dagger \ddot \ddots \deg \delta \det \dfrac \dim \displaystyle \div \dot \dots \dotsb \dotsc \dotsm \dotso \downarrow
}
