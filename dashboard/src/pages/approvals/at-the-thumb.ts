/** On a phone what is pressed stands above the bar of pages, whatever is read. */
export const AT_THE_THUMB =
  "max-lg:fixed max-lg:inset-x-0 max-lg:bottom-[calc(3.5rem+env(safe-area-inset-bottom))] max-lg:z-10 max-lg:border-t max-lg:border-line max-lg:bg-surface max-lg:px-4 max-lg:py-3 max-lg:shadow-[0_-6px_20px_rgb(0_0_0/0.08)] md:max-lg:bottom-0 md:max-lg:left-60";
