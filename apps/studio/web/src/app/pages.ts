// The pages, in the order of the header. A page is one line here and one file in ../pages.

import { explain } from "../pages/explain/explain";
import { far } from "../pages/far/far";
import { heads } from "../pages/heads/heads";
import { learn } from "../pages/learn/learn";
import { patterns } from "../pages/patterns/patterns";
import { roles } from "../pages/roles/roles";
import { step } from "../pages/step/step";
import type { Page } from "./page";

export const pages: readonly Page[] = [step, heads, far, roles, patterns, learn, explain];
