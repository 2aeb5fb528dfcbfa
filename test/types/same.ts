/** Compiles only where two types are identical; an assignment would let wider ones through. */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [A, B]): void;
