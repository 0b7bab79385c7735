declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  import type { ForwardRefExoticComponent, RefAttributes, SVGProps } from 'react'

  interface IconProps extends Partial<Omit<SVGProps<SVGSVGElement>, 'stroke'>> {
    size?: string | number
    stroke?: string | number
  }
  const Icon: ForwardRefExoticComponent<IconProps & RefAttributes<SVGSVGElement>>
  export default Icon
}
