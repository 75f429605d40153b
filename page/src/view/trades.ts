/** Four small tables as four trades meet them, in their words. The numbers are made up: effects add, with some noise. */

import { levelsOf, productOf } from "../engine/index.ts";
import { makeScene, type Scene, truthOf } from "./scene.ts";
import { measured } from "./truths.ts";

/** Return the scene of factors written as "name|level effect,...", apart by semicolons; its cells are seen where the rule says so. */
function tradeScene(text: string, unit: string, noise: number, rule: (levels: number[]) => boolean): Scene {
  const parts = text.split(";").map((factor) => {
    const [name, levels] = factor.split("|");
    return { name: name!, levels: levels!.split(",").map((level) => /^(.*) (\S+)$/.exec(level)!) };
  });
  const factors = parts.map(({ name, levels }) => ({ name, levels: levels.map(([, level]) => level!) }));
  const sizes = factors.map(({ levels }) => levels.length);
  const cells = Array.from({ length: productOf(sizes) }, (_, cell) => levelsOf(sizes, cell));
  const sums = Float64Array.from(cells, (levels) => levels.reduce((sum, level, factor) => sum + Number(parts[factor]!.levels[level]![2]), 0));
  const table = measured(sums, noise).map((value) => Math.round(10 * value) / 10);
  return makeScene(factors, { seen: Uint8Array.from(cells, (levels) => +rule(levels)), truth: truthOf("table", { table, unit }) });
}

export function screen(): Scene {
  return tradeScene(
    "drug|DMSO 87,cisplatin 62,doxorubicin 48,etoposide 55,gefitinib 70,olaparib 74,paclitaxel 40,trametinib 58;cell line|A549 0,HCT116 -6,HeLa -10,Jurkat -18,K562 -8,MCF7 3,PC3 5,RPE1 9,U2OS -3",
    "per cent alive",
    1.5,
    ([drug, line]) => (drug! > 5) === line! > 6 && (drug! > 5 || (3 * drug! + 2 * line!) % 5 < 3),
  );
}

export function pages(): Scene {
  return tradeScene(
    "page|A 4.1,B 4.6,C 3.7,D 5.2;audience|ads -0.9,new 0,newsletter 2.3,returning 1.6;device|desktop 0.4,phone -0.6,tablet 0",
    "per cent converted",
    0.1,
    ([page, audience, device]) => [true, device! < 2, audience! % 2 > 0, audience === 2 && device === 1][page!]!,
  );
}

export function robot(): Scene {
  return tradeScene(
    "light|bright 0,dim -8,dark -21;object|bottle 78,drill 64,mug 82,plush toy 55,screw 41;pose|upright 0,lying -9,tilted -14",
    "per cent grasped",
    1,
    ([light, object, pose]) => [pose! < 2 || object! % 2 < 1, object === 2 && pose! < 1, false][light!]!,
  );
}

export function trial(): Scene {
  return tradeScene(
    "treatment|A 4.1,B 4.4,C 3.9,D 4.8,E 5.1,F 4.3,G 5.6;block|I 0,II 0.3,III -0.2,IV 0.5,V 0.1,VI -0.4,VII 0.2",
    "tonnes per hectare",
    0.05,
    ([treatment, block]) => [0, 1, 3].includes((block! - treatment! + 7) % 7) && (treatment === 6) === (block === 6),
  );
}
