import { testOnNode } from "../conformance/services/on-node.ts";

testOnNode("telnyx");
