package lessons

// Document is one of the lecture documents, by the number that the course knows
// it by.
type Document struct {
	ID, Title string
	Sections  []Section
}

// Section is a heading of a document, in its order. 002 has slides without
// numbers: theirs is the part they stand in.
type Section struct {
	ID       string // as in Screen.Covers: "001 3.2", "002 slack"
	Document string
	Number   string
	Title    string
}

// Documents are the lecture's documents with every section.
var Documents = []Document{
	document("000", "Minimal complexity machines and kernel optimisation",
		"intro", "", "Introduction",
		"components", "1", "Statistical Learning Theory: generator, supervisor, learning machine",
		"slt", "1", "Statistical Learning Theory: risk and bounds",
		"mcm-motivation", "2", "Minimal Complexity Machines: Motivation",
		"mcm", "2", "MCM formulations",
		"mcm-soft", "2", "Generalizing the MCM",
		"kernel-motivation", "3", "Kernel Optimization: Motivation",
		"kernel", "3", "Kernel Optimization: Formulations",
		"steps", "4", "Kernel optimization using conformal maps for the MCM",
	),
	document("001", "Support vector machines and kernel methods, parts I to III",
		"1.1", "1.1", "Problem Setup",
		"1.2", "1.2", "Learning Objective",
		"1.3", "1.3", "Decision Boundary",
		"1.4", "1.4", "Core Intuition",
		"2.1", "2.1", "Functional Form",
		"2.2", "2.2", "Geometric Interpretation",
		"2.3", "2.3", "Linear Separability",
		"3.1", "3.1", "Concept of Margin",
		"3.2", "3.2", "Addressing Scale Invariance",
		"3.3", "3.3", "Canonical Hyperplane and Support Vectors",
		"3.4", "3.4", "Margin Calculation under Normalization",
		"3.5", "3.5", "Choosing the Optimal Hyperplane",
		"4.1", "4.1", "Formal Optimization Problem",
		"4.2", "4.2", "Constrained Optimization and Lagrange Multipliers",
		"4.3", "4.3", "Karush-Kuhn-Tucker Conditions",
		"5.1", "5.1", "Constructing the Lagrangian",
		"5.2", "5.2", "Deriving Stationarity Conditions",
		"5.3", "5.3", "Substituting back: the Dual Objective",
		"5.4", "5.4", "The Dual Optimization Problem",
		"5.5", "5.5", "Prediction using the Dual Solution",
		"6.1", "6.1", "Soft Margin: Motivation",
		"6.2", "6.2", "Introducing Slack Variables",
		"6.3", "6.3", "Modified Primal Optimization Problem",
		"6.4", "6.4", "Dual Formulation of the Soft Margin SVM",
		"6.5", "6.5", "Prediction Function",
		"6.6", "6.6", "Practical Aspects",
		"8.1", "8.1", "Limitations of Linear Classifiers",
		"8.2", "8.2", "Feature Space Transformation",
		"9.1", "9.1", "Fixed Basis Functions",
		"9.2", "9.2", "Implications",
		"10.1", "10.1", "SVM Dual Formulation with Feature Maps",
		"10.2", "10.2", "Definition of the Gram Matrix",
		"10.3", "10.3", "Computational Advantage",
		"11.1", "11.1", "Kernel Trick: Motivation",
		"11.2", "11.2", "Kernel Function Definition",
		"11.3", "11.3", "The Kernel Trick",
		"12.1", "12.1", "Linear Kernel",
		"12.2", "12.2", "Polynomial Kernel, XOR",
		"12.3", "12.3", "Gaussian Kernel",
		"13.1", "13.1", "Valid Kernels: Requirement",
		"13.2", "13.2", "Mercer's Theorem",
		"13.3", "13.3", "Importance",
		"14.1", "14.1", "Gaussian Kernel Parameter: Role",
		"14.2", "14.2", "Effect of Small s",
		"14.3", "14.3", "Effect of Large s",
		"14.4", "14.4", "Practical Tuning",
		"15.1", "15.1", "Kernel Ridge Regression: Primal Objective",
		"15.2", "15.2", "Dual Representation of Solution",
		"15.3", "15.3", "Solution for Dual Coefficients",
		"15.4", "15.4", "Prediction Rule",
		"15.5", "15.5", "Key Insight",
		"16.1", "16.1", "Multi-Class: Problem Setting",
		"16.2", "16.2", "One-vs-All",
		"16.3", "16.3", "Simultaneous Learning: Weston-Watkins, Crammer-Singer",
		"18.1", "18.1", "Beyond Vectorial Data: Data Types",
		"18.2", "18.2", "Beyond Vectorial Data: Challenge",
		"18.3", "18.3", "Beyond Vectorial Data: General Approach",
		"19.1", "19.1", "General String Kernel Framework",
		"19.2", "19.2", "Gap-Weighted Subsequence Kernel",
		"19.3", "19.3", "k-Spectrum Kernel",
		"20.1", "20.1", "Representing Graphs",
		"20.2", "20.2", "Graph Walks",
		"20.3", "20.3", "Random Walk Graph Kernel",
		"20.4", "20.4", "Weisfeiler-Lehman (WL) Graph Kernel",
		"21.1", "21.1", "Fisher Kernel: Approach",
		"21.2", "21.2", "Train a Generative Model",
		"21.3", "21.3", "Compute Fisher Score Vector",
		"21.4", "21.4", "Define the Fisher Kernel",
		"21.5", "21.5", "Example: Mixture Model",
	),
	document("002", "Support-vector machines, slides",
		"networks", "", "Drawbacks of neural networks",
		"svm", "", "Support-vector machines",
		"margins", "1", "Margins",
		"vc-margin", "1", "Effect of the margin on the VC dimension",
		"linear", "1", "Binary linear classification",
		"functional", "1", "Functional and geometric margins",
		"maximal", "1", "Maximal margin classifier for linearly separable data",
		"lagrange", "2", "Optimization under equality and inequality constraints",
		"example1", "2", "Optimization under constraints: example 1",
		"example2", "2", "Optimization under constraints: example 2",
		"example3", "2", "Optimization under constraints: example 3",
		"example4", "2", "Optimization under constraints: example 4",
		"generalized", "2", "Generalized Lagrange Method",
		"primal", "3", "Primal form of the maximal margin classifier",
		"lagrangian", "3", "Lagrangian of the maximal margin classifier",
		"weights", "3", "The weight vector depends on the data",
		"perceptron", "3", "Dual form of the Perceptron algorithm",
		"dual", "3", "Dual form of the maximal margin classifier",
		"support", "3", "Support vectors",
		"generalization", "3", "Maximal margin classifier: generalization",
		"summary-hard", "3", "Maximal margin classifier: summary",
		"slack", "4", "Soft margin classifier: introducing slack variables",
		"primal-soft", "4", "Primal form of the 1-norm soft-margin optimization",
		"regularization", "4", "Soft margin classification uses regularization",
		"dual-soft", "4", "Dual form of the 1-norm soft-margin optimization",
		"feature-space", "5", "Use of a feature space",
		"kernel", "5", "Kernel function to project on a feature space",
		"polynomial", "5", "Example of the polynomial kernel",
		"svm-definition", "5", "Definition of the support vector machine",
		"mercer", "5", "What is a valid kernel?",
		"kernels", "5", "Examples of kernels used in SVMs",
		"brilliant", "5", "Why SVMs are a brilliant idea",
		"primal-optimization", "6", "Optimization procedure for the primal form",
		"hinge", "6", "Hinge loss",
		"networks-regularization", "6", "Regularization: comparison with neural networks",
		"dual-optimization", "6", "Optimization procedure for the dual form",
		"naive", "6", "Naive stochastic gradient ascent",
		"chunking", "6", "Chunking algorithm for the 1-norm margin",
		"smo", "6", "Sequential Minimal Optimization",
		"summary", "", "Summary of SVM",
	),
}

// document makes a document from triples of id, number and title.
func document(id, title string, triples ...string) Document {
	d := Document{ID: id, Title: title}
	for i := 0; i+2 < len(triples); i += 3 {
		d.Sections = append(d.Sections, Section{ID: id + " " + triples[i], Document: id, Number: triples[i+1], Title: triples[i+2]})
	}
	return d
}

// FindSection returns the section of an id of Screen.Covers.
func FindSection(id string) (Section, bool) {
	for _, d := range Documents {
		for _, s := range d.Sections {
			if s.ID == id {
				return s, true
			}
		}
	}
	return Section{}, false
}
