import { withBase } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

/** The theme's own page has no main landmark. */
const missing = () =>
  h("main", { class: "missing" }, [
    h("h1", "Page not found"),
    h("p", [h("a", { href: withBase("/") }, "To the first page")]),
  ]);

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { "not-found": missing }),
};
