import { busy, first, isWanted, type Need, waiting } from "../jobs.ts";

/** For `test/run.js`: what the jobs need that some words pick, and what they want, as JSON. */
const jobs = [...first, ...busy, ...waiting].filter(isWanted(process.argv.slice(2)));
const needs = new Set<Need>(jobs.flatMap(({ needs }) => needs));
const wants = new Set<Need>(jobs.flatMap(({ wants = [] }) => wants));
console.log(JSON.stringify({ jobs: jobs.length, needs: [...needs], wants: [...wants] }));
