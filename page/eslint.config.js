import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["build/", "node_modules/"] },
  ...tseslint.configs.strict,
  {
    rules: {
      // Typed arrays are read inside their bounds in every inner loop: the sign says so to the compiler.
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines": ["error", 400],
      eqeqeq: "error",
      "prefer-const": "error",
    },
  },
);
